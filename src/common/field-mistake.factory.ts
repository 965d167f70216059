import { ExactInteger } from './exact-json.parser.js';

/** What is wrong with one field of a request. */
export interface FieldMistake {
  /** Its path, as in `images.0.url`. */
  readonly field: string;
  readonly message: string;
  /** The name of what does not hold: class-validator's, JSON Schema's, zod's, or one of ours. */
  readonly rule: string;
  /** The type of what was given, as JSON has it; `nothing` where it is missing. Never the value: it may be a secret. */
  readonly got: string;
}

/** @param value what was given there */
export function fieldMistake(field: string, message: string, rule: string, value: unknown): FieldMistake {
  return { field, message, rule, got: jsonTypeOf(value) };
}

/** The type of a value as JSON has it; `nothing` when it is missing. */
function jsonTypeOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  // JSON has no NaN: it is what becomes of a text of a query that is no number.
  if (Number.isNaN(value)) return 'string';
  if (value instanceof ExactInteger) return 'number';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** As zod tells what is wrong, with the path of it. */
interface Issue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/**
 * @param root what the paths are of
 * @param at where that was given, as in `session.`
 */
export function issueMistakes(issues: readonly Issue[], root: unknown, at = ''): FieldMistake[] {
  return issues.map(({ path, message, code }) => {
    const field = `${at}${path.map(String).join('.')}`.replace(/\.$/, '');
    return fieldMistake(field, message, code ?? 'custom', reached(root, path));
  });
}

function reached(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((value: unknown, key) => (value as Record<PropertyKey, unknown> | null | undefined)?.[key], root);
}
