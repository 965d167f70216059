import { AppError } from '../errors/index.js';
import type { ExpressionNode } from './expression.node.js';
import { evaluate } from './expression.engine.js';
import { formatFraction } from './fraction.mapper.js';
import { MATH_NAMES } from './math-function.registry.js';
import { loadMathParser, type MathParser } from './math-parser.loader.js';
import { type MathSource, readMathSource } from './math-source.parser.js';
import { nonsenseAt } from './math-token.parser.js';

/** Evaluates an expression and formats its value. @throws AppError `TOOL_FAILED` with the error and its position */
export type Calculator = (expression: string) => string;

const MAX_CHARACTERS = 1_000;

/**
 * Creates a calculator with exact fractions; inexact results are rounded to 15 significant digits. `^` binds more
 * tightly than a preceding sign and is right-associative. `%` before an operand is the remainder, with the divisor's
 * sign. Otherwise it is percent; after + or - it is a percentage of the left operand: `200 + 10%` is 220.
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
