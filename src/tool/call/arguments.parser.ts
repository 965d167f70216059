import {
  ExactInteger,
  isJsonObject,
  type JsonFault,
  jsonErrorOffset,
  parseExactJson,
  parseJson,
} from '../../kernel/json/index.js';

export type ParsedArguments =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  /** `reason` is a sentence for the model. */
  | { readonly ok: false; readonly reason: string };

const EXCERPT_CHARACTERS = 20;

/**
 * Parses the model's text of a call's arguments. Blank text, which models send for a tool without parameters, is an
 * empty object.
 */
export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === '') return { ok: true, value: {} };
  const parsed = parseJson(text, parseExactJson);
  if (!parsed.ok) return refused(problem(parsed.fault, text));
  const { value } = parsed;
  if (!isJsonObject(value)) {
    return refused(`The arguments must be a JSON object, got ${kindOf(value)}.`);
  }
  return { ok: true, value };
}

function refused(reason: string): ParsedArguments {
  return { ok: false, reason };
}

function problem(fault: JsonFault, text: string): string {
  switch (fault.kind) {
    case 'syntax':
      return syntaxProblem(text);
    case 'depth':
      return `The arguments are nested deeper than ${fault.maxDepth} levels.`;
    case 'values':
      return `The arguments have more than ${fault.maxValues} values.`;
    case 'forbidden_key':
      return `The key "${fault.path}" is not allowed.`;
  }
}

function syntaxProblem(text: string): string {
  const offset = jsonErrorOffset(text);
  const advice = 'Send one complete JSON object.';
  const at = `position ${offset}`;
  if (offset >= text.length) return `The arguments are not valid JSON: the text ends too early, at ${at}. ${advice}`;
  const found = JSON.stringify(text.slice(offset, offset + EXCERPT_CHARACTERS));
  return `The arguments are not valid JSON: unexpected ${found} at ${at}. ${advice}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value instanceof ExactInteger) return 'a number';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}
