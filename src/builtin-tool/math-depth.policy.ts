import { AppError } from '../errors/index.js';
import type { MathToken } from './math-token.parser.js';

const MAX_DEPTH = 100;
const BINARY: ReadonlySet<string> = new Set(['+', '-', '*', '/', 'mod', ',']);

/**
 * Counts nesting levels in the library's parser and in the tree: parentheses, prefix signs and powers.
 * @throws AppError `TOOL_FAILED` for more than 100 levels
 */
export function refuseDepth(tokens: readonly MathToken[]): void {
  /** For the whole and each open parenthesis: the number of signs and powers whose operand has not ended. */
  const open = [0];
  let isOperandNext = true;
  for (const { text } of tokens) {
    count(open, text, isOperandNext);
    if (open.length - 1 + open.reduce((sum, waiting) => sum + waiting) > MAX_DEPTH) {
      throw new AppError('TOOL_FAILED', `The expression is nested deeper than ${MAX_DEPTH} levels.`);
    }
    isOperandNext = BINARY.has(text) || text === '(' || text === '^';
  }
}

function count(open: number[], text: string, isOperandNext: boolean): void {
  const last = open.length - 1;
  const isPrefix = isOperandNext && (text === '-' || text === '+');
  if (text === '(') open.push(0);
  else if (text === ')' && last > 0) open.pop();
  else if (text === '^' || isPrefix) open[last] = (open[last] ?? 0) + 1;
  else if (BINARY.has(text)) open[last] = 0;
}
