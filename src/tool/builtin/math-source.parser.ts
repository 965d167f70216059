import { refuseDepth } from './math-depth.policy.js';
import { type MathToken, nonsenseAt, tokenize } from './math-token.parser.js';

/** An expression as the maths library is to read it, and where each of its characters comes from. */
export interface MathSource {
  readonly text: string;
  /** For each character of `text` the place of its token in the expression, from 0. */
  readonly positions: readonly number[];
  /** Where the expression ends. */
  readonly end: number;
}

/**
 * Reads an expression down to numbers, the names in `names`, and operators, and writes it anew for the library:
 * without thousands separators, `%` as `mod` where an operand follows and else as the postfix sign `'`. The library
 * would read what is behind each `%` twice, and in nested parentheses so 2^depth times. Throws `TOOL_FAILED` with the
 * place of the first character that means nothing, and for more than 100 levels.
 */
export function readMathSource(expression: string, names: ReadonlySet<string>): MathSource {
  const tokens = withPercents(tokenize(expression, names), expression);
  refuseDepth(tokens);
  const positions: number[] = [];
  let text = '';
  for (const token of tokens) {
    text += `${token.text} `;
    for (let count = token.text.length; count >= 0; count--) positions.push(token.position);
  }
  return { text, positions, end: expression.trimEnd().length };
}

function withPercents(tokens: readonly MathToken[], expression: string): MathToken[] {
  return tokens.map((token, index) => {
    if (token.text !== '%') return token;
    const next = tokens[index + 1];
    if (!endsOperand(tokens[index - 1])) throw nonsenseAt(expression, token.position);
    return { ...token, text: next && startsOperand(next) ? 'mod' : "'" };
  });
}

/** At any other place the library would take the sign for the quote of a text. */
function endsOperand(token: MathToken | undefined): boolean {
  return token !== undefined && (startsOperand(token) ? token.text !== '(' : /^[)!%]$/.test(token.text));
}

function startsOperand({ kind, text }: MathToken): boolean {
  return kind === 'number' || text === '(' || (kind === 'name' && text !== 'mod');
}
