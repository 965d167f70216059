import { AppError } from '../../errors/index.js';
import type { ResponseFormat } from '../../llm/index.js';
import { outputCheckOf } from './output-check.factory.js';

/** Maximum characters of a schema as JSON; above the limit of every provider. */
const MAX_CHARACTERS = 65_536;
const MAX_LEVELS = 64;

/**
 * Rejects a schema that is too large, malformed, or refers to another document, which is never fetched.
 * @throws AppError `TOOL_INVALID` with the reason
 */
export function assertFormat(format: ResponseFormat): void {
  if (format === 'json') return;
  if (isDeeper(format.schema, MAX_LEVELS)) throw unusable(`is nested more than ${MAX_LEVELS} levels deep`);
  const { length } = JSON.stringify(format.schema);
  if (length > MAX_CHARACTERS) throw unusable(`has ${length} characters as JSON, and may have ${MAX_CHARACTERS}`);
  outputCheckOf(format);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

function unusable(why: string): AppError {
  return new AppError('TOOL_INVALID', `the schema ${why}`);
}
