import { AppError, messageOf } from '../../errors/index.js';
import { isStandardSchema, type StandardInputSchema } from '../../tool/input/index.js';
import type { GivenFormat } from './response-format.mapper.js';

type Validated = Awaited<ReturnType<StandardInputSchema['~standard']['validate']>>;
type Issue = NonNullable<Validated['issues']>[number];

/**
 * Applies a Standard Schema's own validator, including refinements and transformations, to the value of an answer. The
 * journal stores the value as JSON; the validator's output exists only in this process and need not be JSON.
 * @param output a value that is valid for the schema's JSON Schema
 * @returns the unchanged value if the format is not a Standard Schema
 * @throws AppError `OUTPUT_INVALID` when the validator rejects the value or throws
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
