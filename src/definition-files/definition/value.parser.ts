import { parseJson } from '../../kernel/index.js';
import type { ValueKind } from './agent-element.schema.js';

/** A value, or a description of the expected one. */
export type ReadValue = { readonly value: unknown } | { readonly expected: string };

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$/;
const INTEGER = /^[+-]?\d{1,15}$/;

/** Parses a text as a value of a kind. */
export function readValue(text: string, kind: ValueKind): ReadValue {
  const word = text.trim();
  if (typeof kind !== 'string')
    return kind.includes(word) ? { value: word } : { expected: `one of ${kind.join(', ')}` };
  switch (kind) {
    case 'text':
      return { value: text };
    case 'number':
      return NUMBER.test(word) ? { value: Number(word) } : { expected: 'a number such as 0.7' };
    case 'integer':
      return readInteger(word);
    case 'integer-or-never':
      return word === 'never' ? { value: null } : readInteger(word, ', or never');
    case 'boolean':
      return word === 'true' || word === 'false' ? { value: word === 'true' } : { expected: 'true or false' };
    case 'json':
      return readJson(word);
  }
}

function readInteger(word: string, or = ''): ReadValue {
  return INTEGER.test(word) ? { value: Number(word) } : { expected: `a whole number${or}` };
}

function readJson(word: string): ReadValue {
  const parsed = parseJson(word);
  return parsed.ok ? { value: parsed.value } : { expected: 'JSON' };
}

/** Removes surrounding blank lines and the common indentation, since elements are indented. */
export function dedent(text: string): string {
  const lines = text
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd()
    .split('\n');
  // A first line beside the tag has no indentation of its own.
  const measured = /^\s*\n/.test(text) ? lines : lines.slice(1);
  const indents = measured.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length);
  const indent = indents.length > 0 ? Math.min(...indents) : 0;
  const [first = '', ...others] = lines;
  const cut = (line: string) => line.slice(Math.min(indent, line.length - line.trimStart().length));
  return [measured === lines ? cut(first) : first.trimStart(), ...others.map(cut)].join('\n');
}
