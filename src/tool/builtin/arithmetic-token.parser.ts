import { AppError } from '../../common/index.js';
import type { Fraction } from './fraction.engine.js';
import { parseFraction } from './fraction.mapper.js';

export type ArithmeticToken =
  | { readonly kind: 'number'; readonly text: string; readonly position: number; readonly value: Fraction }
  | { readonly kind: 'operator' | 'end'; readonly text: string; readonly position: number };

/** Signs people write for the operators, beside the full-width forms that differ from ASCII by a constant. */
const SAME_AS: Readonly<Record<string, string>> = { '×': '*', '·': '*', '÷': '/', '−': '-', '–': '-', '。': '.' };
const FULL_WIDTH = /[！-～]/g;
const FULL_WIDTH_OFFSET = 0xfee0;
const TOKEN = /\s*(?:((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?)|(\*\*|[-+*/%^()]))/y;

/** Splits an expression; positions count from 0. Throws `TOOL_FAILED` at the first character that means nothing. */
export function tokenize(expression: string): ArithmeticToken[] {
  const text = toAscii(expression);
  const end = text.trimEnd().length;
  const tokens: ArithmeticToken[] = [];
  TOKEN.lastIndex = 0;
  for (let offset = 0; offset < end; offset = TOKEN.lastIndex) {
    TOKEN.lastIndex = offset;
    const match = TOKEN.exec(text);
    if (!match) throw nonsenseAt(expression, offset + text.slice(offset).search(/\S/));
    const [, number, operator = ''] = match;
    const position = TOKEN.lastIndex - (number ?? operator).length;
    if (number !== undefined) tokens.push({ kind: 'number', text: number, position, value: parseFraction(number) });
    else tokens.push({ kind: 'operator', text: operator === '**' ? '^' : operator, position });
  }
  tokens.push({ kind: 'end', text: '', position: end });
  return tokens;
}

/** Changes no lengths, so that positions stay true. */
function toAscii(expression: string): string {
  return expression
    .replace(FULL_WIDTH, (character) => String.fromCharCode(character.charCodeAt(0) - FULL_WIDTH_OFFSET))
    .replace(/[×·÷−–。]/g, (character) => SAME_AS[character] ?? character);
}

function nonsenseAt(expression: string, position: number): AppError {
  const found = JSON.stringify(expression.slice(position, position + 20));
  return new AppError(
    'TOOL_FAILED',
    `The expression is not arithmetic: unexpected ${found} at position ${position}; only numbers, parentheses and + - * / % ^ are understood.`,
  );
}
