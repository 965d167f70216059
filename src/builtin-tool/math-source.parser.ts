import { refuseDepth } from './math-depth.policy.js';
import { type MathToken, nonsenseAt, tokenize } from './math-token.parser.js';

/** An expression rewritten for the maths library, with the source position of each character. */
export interface MathSource {
  readonly text: string;
  /** For each character of `text` the position of its token in the expression, from 0. */
  readonly positions: readonly number[];
  /** Position of the end of the expression. */
  readonly end: number;
}

/**
 * Tokenises an expression into numbers, the names in `names`, and operators, and rewrites it for the library: without
 * thousands separators, `%` as `mod` before an operand and otherwise as the postfix sign `'`. The library would parse
 * the text after each `%` twice, and 2^depth times in nested parentheses.
 * @throws AppError `TOOL_FAILED` with the position of the first unknown character, and for more than 100 levels
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

/** At any other position the library would read the sign as a quote. */
function endsOperand(token: MathToken | undefined): boolean {
  return token !== undefined && (startsOperand(token) ? token.text !== '(' : /^[)!%]$/.test(token.text));
}

function startsOperand({ kind, text }: MathToken): boolean {
  return kind === 'number' || text === '(' || (kind === 'name' && text !== 'mod');
}
