import { Injectable } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { Tool } from '../tool/method/index.js';
import { ExpressionParser } from './expression.parser.js';
import { formatFraction } from './math-function.registry.js';
import { abbreviationNote, formatTime } from './time-format.mapper.js';

/** Source of the current time; tests provide their own. */
@Injectable()
export class Clock {
  /** Current time, epoch ms. */
  now(): number {
    return Date.now();
  }
}

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

interface CalculatorInput {
  readonly expression: string;
}

interface TimestampInput {
  readonly timezone?: string;
  readonly format?: string;
}

/** Built-in tool: an exact calculator. */
@Injectable()
export class CalculatorTool {
  @Tool({
    description: 'Computes an arithmetic expression exactly. Use it for every calculation.',
    effect: 'read',
    // Only the arguments are in the result.
    private: false,
    input: {
      type: 'object',
      properties: {
        expression: {
          type: 'string',
          description:
            'Numbers, () + - * / ^ ! % (10 % 3 is 1, 200+10% is 220), pi, e, sqrt abs round(x, places) floor ceil min ' +
            'max sin cos tan asin acos atan (radians) ln log(x, base) exp mod gcd lcm. Example: "(100 + 200) * 3 / 4"',
        },
      },
      required: ['expression'],
    },
  })
  calculator({ expression }: CalculatorInput): string {
    return calculate(expression);
  }
}

/** Built-in tool: the current time. */
@Injectable()
export class TimestampTool {
  constructor(private readonly clock: Clock) {}

  @Tool({
    name: 'get_timestamp',
    description: 'Returns the current date and time.',
    effect: 'read',
    // Only the arguments are in the result.
    private: false,
    input: {
      type: 'object',
      properties: {
        timezone: { type: 'string', description: 'IANA time zone (default UTC), such as Asia/Shanghai' },
        format: {
          type: 'string',
          maxLength: 100,
          description:
            'iso (default), epoch_s, epoch_ms, date, time, datetime, rfc2822, or a pattern like "YYYY/MM/DD HH:mm:ss [UTC]Z"',
        },
      },
    },
  })
  getTimestamp({ timezone, format = 'iso' }: TimestampInput): string | number {
    // Models send an empty string for an omitted argument.
    const zone = timezone?.trim() || 'UTC';
    const now = this.clock.now();
    const time = formatTime(now, zone, format);
    const note = abbreviationNote(now, zone);
    return typeof time === 'number' || note === null ? time : `${time} (${note})`;
  }
}
