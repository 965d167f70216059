import { AppError } from '../../common/index.js';
import type { ExpressionNode } from './expression.node.js';
import { evaluate } from './expression.engine.js';
import { formatFraction } from './fraction.mapper.js';
import { MATH_NAMES } from './math-function.registry.js';
import { loadMathParser, type MathParser } from './math-parser.loader.js';
import { type MathSource, readMathSource } from './math-source.parser.js';
import { nonsenseAt } from './math-token.parser.js';

/** Takes an expression and gives its value as text; throws `TOOL_FAILED` saying what is wrong and where. */
export type Calculator = (expression: string) => string;

const MAX_CHARACTERS = 1_000;

/**
 * A calculator with exact fractions, whose results are rounded to 15 significant digits where they are not exact. `^`
 * binds closer than a sign before it and to the right; `%` is the remainder (with the divisor's sign) when an operand
 * follows, else percent, and after + or - percent of what stands before: `200 + 10%` is 220.
 */
export async function createCalculator(): Promise<Calculator> {
  const parse = await loadMathParser();
  return (expression) => {
    if (expression.length > MAX_CHARACTERS) {
      throw new AppError('TOOL_FAILED', `The expression is longer than ${MAX_CHARACTERS} characters.`);
    }
    const source = readMathSource(expression, MATH_NAMES);
    if (source.text === '') throw nonsenseAt(expression, source.end);
    return formatFraction(evaluate(parseSource(parse, source, expression)));
  };
}

function parseSource(parse: MathParser, source: MathSource, expression: string): ExpressionNode {
  try {
    return parse(source.text);
  } catch (error) {
    const place = error instanceof SyntaxError && 'char' in error ? Number(error.char) : undefined;
    if (place === undefined) throw error;
    const isOpen = (error as SyntaxError).message.startsWith('Parenthesis');
    throw nonsenseAt(expression, source.positions[place - 1] ?? source.end, isOpen ? ', ")" is missing' : '');
  }
}
