import { AppError, messageOf } from '../common/index.js';
import { isStandardSchema, type StandardInputSchema } from '../tool/index.js';
import type { GivenFormat } from './response-format.mapper.js';

type Validated = Awaited<ReturnType<StandardInputSchema['~standard']['validate']>>;
type Issue = NonNullable<Validated['issues']>[number];

/**
 * What a Standard Schema's own validator makes of an answer's value, refinements and transformations included. The journal
 * holds the value as JSON, so that it is the same however often it is read; what a schema makes of it stays in this process,
 * and need not be JSON.
 * @param output the value, which fits the schema as JSON Schema
 * @returns the value itself where the format is no such schema
 * @throws AppError `OUTPUT_INVALID` when the validator refuses it, or breaks
 */
export async function asSchemaOutput(format: GivenFormat | undefined, output: unknown): Promise<unknown> {
  const schema = schemaOf(format);
  if (!schema) return output;
  let validated: Validated;
  try {
    validated = await schema['~standard'].validate(output);
  } catch (cause) {
    throw invalid(`its schema could not read it: ${messageOf(cause)}`, cause);
  }
  if (validated.issues) throw invalid(validated.issues.map(problemOf).join('; '));
  return validated.value;
}

function schemaOf(format: GivenFormat | undefined): StandardInputSchema | null {
  if (format === undefined || format === 'json') return null;
  if (isStandardSchema(format)) return format;
  return isStandardSchema(format.schema) ? format.schema : null;
}

function problemOf({ message, path = [] }: Issue): string {
  const keys = ['output', ...path.map((segment) => String(typeof segment === 'object' ? segment.key : segment))];
  return `${JSON.stringify(keys.join('.'))}: ${message}`;
}

function invalid(problem: string, cause?: unknown): AppError {
  const message = `The answer fits its format as JSON, but not its schema in code: ${problem}; the run has it, and another answer may fit.`;
  return new AppError('OUTPUT_INVALID', message, { cause, details: { problem } });
}
