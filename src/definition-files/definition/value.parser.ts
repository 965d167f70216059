import { parseJson } from '../../kernel/json/index.js';
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

/** Stops at the next brace, so that matching stays linear. */
const REFERENCE = /\$(\$?)\{([^{}]{0,200})\}/g;
const NAME = /^[A-Za-z_]\w{0,127}$/;

/** Replaces declared variables in texts. */
export class Variables {
  private constructor(private readonly values: ReadonlyMap<string, string>) {}

  /**
   * @param names variables that the text declares
   * @param report receives mistakes
   */
  static declared(
    names: readonly string[],
    env: Readonly<Record<string, string | undefined>>,
    report: (mistake: string) => void,
  ): Variables {
    const values = new Map<string, string>();
    for (const name of names) {
      const value = Object.hasOwn(env, name) ? env[name] : undefined;
      if (!NAME.test(name)) report(`${JSON.stringify(name)} is not a name of a variable`);
      else if (value === undefined)
        report(`the variable ${name} is not given: give its value; keys and passwords are never given`);
      // Defined despite the mistake, so that uses of the variable cause no further mistakes.
      values.set(name, value ?? '');
    }
    return new Variables(values);
  }

  /** Replaces `${NAME}` by its value and `$${NAME}` by `${NAME}`. */
  fill(text: string, report: (mistake: string) => void): string {
    return text.replaceAll(REFERENCE, (whole, escape: string, name: string) => {
      if (escape) return whole.slice(1);
      const value = this.values.get(name);
      if (value === undefined)
        report(`${whole} is not declared: name it in env, or write $${whole} for the text itself`);
      return value ?? whole;
    });
  }
}
