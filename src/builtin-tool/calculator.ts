import { AppError } from '../errors/index.js';
import { ExpressionParser } from './expression.parser.js';
import { formatFraction } from './fraction-text.mapper.js';

const MAX_CHARACTERS = 1_000;

/**
 * Evaluates an expression with exact fractions; inexact results are rounded to 15 significant digits. `^` binds more
 * tightly than a preceding sign and is right-associative. `%` before an operand is the remainder, with the divisor's
 * sign. Otherwise it is percent; after + or - it is a percentage of the left operand: `200 + 10%` is 220.
 * @throws AppError `TOOL_FAILED` with the error and its position
 */
export function calculate(expression: string): string {
  if (expression.length > MAX_CHARACTERS) {
    throw new AppError('TOOL_FAILED', `The expression is longer than ${MAX_CHARACTERS} characters.`);
  }
  return formatFraction(new ExpressionParser(expression).evaluate());
}
