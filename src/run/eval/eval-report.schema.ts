import { z } from 'zod';
import { AppError } from '../../errors/index.js';
import { issueMistakes } from '../../kernel/index.js';

const share = z.number().min(0).max(1);
const count = z.int().min(0);
const amount = z.number().min(0);
const usage = z.strictObject({ tokens: count, cost: amount });
const rate = z.strictObject({ passed: count, total: count, rate: share, low: share, high: share });
const score = z.strictObject({ score: share, reason: z.string(), usage: usage.optional() });

const resultSchema = z.strictObject({
  line: z.string(),
  input: z.string().optional(),
  repetition: z.int().min(1),
  isPassed: z.boolean(),
  scores: z.record(z.string(), score),
  runId: z.string(),
  status: z.string(),
  text: z.string(),
  durationMs: amount,
  steps: count,
  usage,
  error: z.string().optional(),
});

const figures = {
  name: z.string().regex(/\S/u).max(255),
  id: z.string(),
  agent: z.string().optional(),
  workflow: z.string().optional(),
  revision: z.string(),
  startedAt: z.iso.datetime(),
  lines: count,
  repeat: z.int().min(1),
  passRate: rate,
  scorers: z.record(z.string(), z.strictObject({ mean: share, passRate: rate })),
  usage,
  judgeUsage: usage,
  latencyMs: z.strictObject({ median: amount, p95: amount }),
  gates: z.array(z.strictObject({ gate: z.string(), limit: z.number(), actual: z.number(), isPassed: z.boolean() })),
  isPassed: z.boolean(),
};

/** A report as `jackdaw eval --report` writes it. */
const reportSchema = z.strictObject({
  ...figures,
  comparison: z.record(z.string(), z.unknown()).optional(),
  results: z.array(resultSchema),
});

export type StoredReport = Omit<z.output<typeof reportSchema>, 'comparison'>;

/** @param given the member `report` of a request @throws AppError `VALIDATION_FAILED` naming the fields */
export function parseReport(given: unknown): StoredReport {
  const parsed = reportSchema.safeParse(given);
  if (parsed.success) {
    // It compares with a file that the server does not have.
    const { comparison: _comparison, ...report } = parsed.data;
    return report;
  }
  const errors = issueMistakes(parsed.error.issues, given, 'report.');
  const [{ field, message } = { field: 'report', message: '' }] = errors;
  throw new AppError('VALIDATION_FAILED', `The report of the eval is not valid: ${field}: ${message}.`, {
    details: { errors },
  });
}
