import { z } from 'zod';

/** Maximum delay of a Node.js timer, in ms. */
const MOST = 2 ** 31 - 1;

const ms = z.int().min(1).max(MOST);
const count = z.int().max(MOST);

const captureSchema = z.strictObject({
  from: z.string(),
  header: z.string().min(1),
  prefix: z.string().optional(),
});

const retrySchema = z.strictObject({
  attempts: count.min(1).max(11).optional(),
  delayMs: ms.optional(),
  backoff: z.number().min(1).max(100).optional(),
  jitter: z.boolean().optional(),
});

/** The shape of a declaration's `connection`. */
export const connectionSchema = z.strictObject({
  cookies: z.boolean().optional(),
  capture: z.record(z.string().min(1), captureSchema).optional(),
  poolSize: count.min(1).optional(),
  maxOverflow: count.min(0).optional(),
  poolTimeoutMs: ms.optional(),
  poolRecycleMs: ms.optional(),
  connectTimeoutMs: ms.optional(),
  readTimeoutMs: ms.optional(),
  writeTimeoutMs: ms.optional(),
  timeoutMs: ms.optional(),
  keepAlive: z.boolean().optional(),
  keepAliveTimeoutMs: ms.optional(),
  keepAliveIntervalMs: ms.multipleOf(1000, 'must be whole seconds: 1000, 2000, …').optional(),
  retry: retrySchema.optional(),
});
