import { AppError } from '../../common/index.js';
import type { ResponseFormat } from '../../llm/index.js';
import { outputCheckOf } from './output-check.factory.js';

/** Characters of JSON: more than any provider takes, and enough for what a person would write. */
const MAX_CHARACTERS = 65_536;
const MAX_LEVELS = 64;

/**
 * Refuses a format that no answer could be checked against: its schema is too large, malformed, or refers to what is not
 * inside it, which is never fetched.
 * @throws AppError `TOOL_INVALID` saying what is wrong
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
