import { ExactInteger, isJsonObject, type JsonFault, parseExactJson, parseJson } from '../../kernel/json/index.js';

/** One JSON token after white space; sticky, linear time. Characters of a string are U+0020 and above. */
const TOKEN =
  /[\t\n\r ]*(?:([{}[\],:])|("[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\uffff]*)*")|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;
/** The well-formed head of a string. */
const STRING_HEAD = /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\uffff]*)*/y;
/** Rest of a string that ends inside an escape. */
const ESCAPE_HEAD = /^\\(?:u[\da-fA-F]{0,3})?$/;
/** Rest of a number that ends after its point or exponent. */
const NUMBER_TAIL = /^(?:\.|[eE][+-]?)$/;
const UNFINISHED = ['true', 'false', 'null', '-'];

/** Allowed tokens by parser state; `0` represents a number, true, false or null. */
const ALLOWED = {
  value: '{["0',
  'first value': '{["0]',
  key: '"',
  'first key': '"}',
  colon: ':',
  'next key': ',}',
  'next value': ',]',
  end: '',
} as const;
type Expected = keyof typeof ALLOWED;

/** Offset of the first JSON error in a text; the text's length if the text ends too early. */
export function jsonErrorOffset(text: string): number {
  const open: string[] = [];
  let expected: Expected = 'value';
  let offset = 0;
  for (;;) {
    TOKEN.lastIndex = offset;
    const match = TOKEN.exec(text);
    const token = match ? (match[1] ?? (match[2] ? '"' : '0')) : '';
    if (!match || !ALLOWED[expected].includes(token)) return faultIn(text, offset, expected);
    offset = TOKEN.lastIndex;
    expected = advance(token, expected, open);
  }
}

function advance(token: string, expected: Expected, open: string[]): Expected {
  switch (token) {
    case '{':
      open.push(token);
      return 'first key';
    case '[':
      open.push(token);
      return 'first value';
    case ':':
      return 'value';
    case ',':
      return open.at(-1) === '{' ? 'key' : 'value';
    case '}':
    case ']':
      open.pop();
      return afterValue(open);
    default:
      return expected.endsWith('key') ? 'colon' : afterValue(open);
  }
}

function afterValue(open: readonly string[]): Expected {
  if (open.length === 0) return 'end';
  return open.at(-1) === '{' ? 'next key' : 'next value';
}

/** Offset of the error in the token after `offset`; the text's length for a truncated token. */
function faultIn(text: string, offset: number, expected: Expected): number {
  if (NUMBER_TAIL.test(text.slice(offset, offset + 3))) return text.length;
  const start = offset + /^[\t\n\r ]*/.exec(text.slice(offset))![0].length;
  const rest = text.slice(start, start + 5);
  const isCutOff = ALLOWED[expected].includes('0') && UNFINISHED.some((literal) => literal.startsWith(rest));
  if (rest === '' || isCutOff) return text.length;
  if (!rest.startsWith('"') || !ALLOWED[expected].includes('"')) return start;
  STRING_HEAD.lastIndex = start;
  STRING_HEAD.exec(text);
  const end = STRING_HEAD.lastIndex;
  return ESCAPE_HEAD.test(text.slice(end, end + 6)) ? text.length : end;
}

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
