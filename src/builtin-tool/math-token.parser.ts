import { AppError } from '../errors/index.js';

export interface MathToken {
  readonly kind: 'number' | 'name' | 'sign';
  /** The text with `^` for `**`, `pi` for `π`, and without thousands separators. */
  readonly text: string;
  readonly position: number;
}

/** Other signs for the operators. Full-width forms are converted by an offset instead. */
const SAME_AS: ReadonlyMap<string, string> = new Map(
  Object.entries({ '*': '×·⋅∗', '/': '÷∕', '-': '−–‑', '.': '。' }).flatMap(([sign, others]) =>
    Array.from(others, (other) => [other, sign]),
  ),
);
const FULL_WIDTH = /[！-～]/g;
const FULL_WIDTH_OFFSET = 0xfee0;
const TOKEN = /\s*(?:((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?)|([A-Za-z_]\w*|π)|(\*\*|[-+*/%^!(),]))/y;
/** `1,234.5`: outside of a function call commas separate thousands. */
const THOUSANDS = /\s*([1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?)(?![\d,.])/y;

/** The same form inside a function call, where commas separate arguments. */
const SEPARATED = /\s*([1-9]\d{0,2}(?:,\d{3})+)(?!\d)/y;

/** A token, and the position after it. */
interface Read extends MathToken {
  readonly next: number;
}

/** @throws AppError `TOOL_FAILED` with the position of the first unknown character or name */
export function tokenize(expression: string, names: ReadonlySet<string>): MathToken[] {
  const text = toAscii(expression);
  const end = text.trimEnd().length;
  const tokens: MathToken[] = [];
  /** For each open parenthesis, whether it contains the arguments of a function. */
  const calls: boolean[] = [];
  for (let offset = 0; offset < end;) {
    if (calls.at(-1)) refuseAmbiguous(text, offset);
    const token = (calls.at(-1) ? undefined : groupedAt(text, offset)) ?? tokenAt(text, offset);
    if (!token || isUnknown(token, names)) throw unknownAt(expression, offset, names);
    if (token.text === '(') calls.push(opensCall(tokens));
    if (token.text === ')') calls.pop();
    tokens.push(token);
    offset = token.next;
  }
  return tokens;
}

function isUnknown({ kind, text }: MathToken, names: ReadonlySet<string>): boolean {
  return kind === 'name' && !names.has(text);
}

/** `mod` is also an operator: then an operand precedes it. */
function opensCall(before: readonly MathToken[]): boolean {
  const [operand, name] = [before.at(-2), before.at(-1)];
  if (name?.kind !== 'name') return false;
  return name.text !== 'mod' || operand === undefined || (operand.kind === 'sign' && !/^[)!%]$/.test(operand.text));
}

function groupedAt(text: string, offset: number): Read | undefined {
  THOUSANDS.lastIndex = offset;
  const grouped = THOUSANDS.exec(text)?.[1];
  if (grouped === undefined) return undefined;
  const next = THOUSANDS.lastIndex;
  return { kind: 'number', text: grouped.replaceAll(',', ''), position: next - grouped.length, next };
}

/**
 * Rejects commas in arguments that may separate thousands: `000` is not an argument, and `max(1,234, 5)` mixes both styles.
 */
function refuseAmbiguous(text: string, offset: number): void {
  SEPARATED.lastIndex = offset;
  const [grouped = '', number = ''] = SEPARATED.exec(text) ?? [];
  if (!number.includes(',0') && !(number !== '' && /,\s/.test(text))) return;
  const place = `the comma in "${number}" at position ${offset + grouped.length - number.length}`;
  const message = `The expression is ambiguous: ${place} separates thousands or numbers: write numbers without it.`;
  throw new AppError('TOOL_FAILED', message);
}

function tokenAt(text: string, offset: number): Read | undefined {
  TOKEN.lastIndex = offset;
  const match = TOKEN.exec(text);
  if (!match) return undefined;
  const next = TOKEN.lastIndex;
  const [, number, name, sign] = match;
  if (number !== undefined) return { kind: 'number', text: number, position: next - number.length, next };
  if (name !== undefined) return { kind: 'name', text: canonical(name), position: next - name.length, next };
  if (sign === undefined) return undefined;
  return { kind: 'sign', text: sign === '**' ? '^' : sign, position: next - sign.length, next };
}

function canonical(name: string): string {
  return name === 'π' ? 'pi' : name.toLowerCase();
}

/** Error for an unexpected token. @param position its position in the expression */
export function nonsenseAt(expression: string, position: number, hint = ''): AppError {
  const rest = expression.slice(position, position + 20).trimEnd();
  const found = rest === '' ? 'it ends too early' : `unexpected ${JSON.stringify(rest)}`;
  return new AppError('TOOL_FAILED', `The expression is not arithmetic: ${found} at position ${position}${hint}.`);
}

/** Preserves the length, so that positions stay valid. */
function toAscii(expression: string): string {
  return expression
    .replace(FULL_WIDTH, (character) => String.fromCharCode(character.charCodeAt(0) - FULL_WIDTH_OFFSET))
    .replace(/[^\0-\x7f]/g, (character) => SAME_AS.get(character) ?? character);
}

function unknownAt(expression: string, offset: number, names: ReadonlySet<string>): AppError {
  const position = offset + expression.slice(offset).search(/\S/);
  return nonsenseAt(
    expression,
    position,
    `; only numbers, parentheses, + - * / % ^ ! and these names are understood: ${[...names].join(', ')}`,
  );
}
