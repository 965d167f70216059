import type { z } from 'zod';
import { AppError } from '../errors/index.js';
import { issueMistakes } from '../kernel/index.js';

/** @throws AppError `VALIDATION_FAILED` with the mistakes */
export function parsedBy<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const errors = issueMistakes(parsed.error.issues, body, '');
  const detail = errors.map(({ field, message }) => `${field}: ${message}`).join('; ');
  throw new AppError('VALIDATION_FAILED', `The request is not valid: ${detail}.`, { details: { errors } });
}
