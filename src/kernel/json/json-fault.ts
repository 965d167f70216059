import type { JsonFault } from './json.js';

/** Longer texts are not searched for their first error: the search costs up to 0.3 µs a unit. In UTF-16 code units. */
const MOST_SEARCHED = 50_000;

/**
 * Why a text cannot be used, such as `syntax error at line 3, column 12`, without any part of the text.
 * @param text the text in which `parseJson` found the fault
 */
export function describeJsonFault(fault: JsonFault, text: string): string {
  switch (fault.kind) {
    case 'syntax':
      return syntaxError(text);
    case 'depth':
      return `nested deeper than ${fault.maxDepth} levels`;
    case 'values':
      return `more than ${fault.maxValues} values`;
    case 'forbidden_key':
      return `the key "${fault.path}" is not allowed`;
  }
}

function syntaxError(text: string): string {
  if (text.length > MOST_SEARCHED) return 'syntax error';
  const offset = jsonErrorOffset(text);
  if (offset >= text.length) return 'the text ends too early';
  const lines = text.slice(0, offset).split('\n');
  return `syntax error at line ${lines.length}, column ${lines.at(-1)!.length + 1}`;
}

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
