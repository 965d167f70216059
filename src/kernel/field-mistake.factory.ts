import { ExactInteger } from './json/exact-json.parser.js';

/** One invalid field of a request. */
export interface FieldMistake {
  /** Path of the field, such as `images.0.url`. */
  readonly field: string;
  readonly message: string;
  /** Name of the violated rule: of class-validator, JSON Schema, zod, or our own. */
  readonly rule: string;
  /** JSON type of the given value; `nothing` if it is missing. Never the value itself: it may be a secret. */
  readonly got: string;
}

/** Number of mistakes at which a validation stops; a body may contain very many. */
export const MAX_MISTAKES = 100;
/** Maximum length of the texts of a mistake, in characters: a field's name may be long. */
const MAX_TEXT = 300;

/** @param value the given value */
export function fieldMistake(field: string, message: string, rule: string, value: unknown): FieldMistake {
  return { field: shortened(field), message: shortened(message), rule, got: jsonTypeOf(value) };
}

function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

/** JSON type of a value; `nothing` if it is missing. */
function jsonTypeOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  // JSON has no NaN: it results from a query text that is not a number.
  if (Number.isNaN(value)) return 'string';
  if (value instanceof ExactInteger) return 'number';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** A validation issue in zod's format. */
interface Issue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/**
 * The first `MAX_MISTAKES` issues.
 * @param root the value that the paths refer to
 * @param at prefix of the paths in the request, such as `session.`
 */
export function issueMistakes(issues: readonly Issue[], root: unknown, at = ''): FieldMistake[] {
  return issues.slice(0, MAX_MISTAKES).map(({ path, message, code }) => {
    const field = `${at}${path.map(String).join('.')}`.replace(/\.$/, '');
    return fieldMistake(field, message, code ?? 'custom', reached(root, path));
  });
}

function reached(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((value: unknown, key) => (value as Record<PropertyKey, unknown> | null | undefined)?.[key], root);
}
