import { Injectable } from '@nestjs/common';
import { Tool } from '../tool.decorator.js';
import { calculate } from './arithmetic.parser.js';
import { Clock } from './clock.js';
import { toIsoInZone } from './timestamp.mapper.js';

interface CalculatorInput {
  readonly expression: string;
}

interface TimestampInput {
  readonly timezone?: string;
  readonly format?: 'iso' | 'epoch_s' | 'epoch_ms';
}

/** The tools every agent can have: sums that are right, and the time. */
@Injectable()
export class BuiltinTools {
  constructor(private readonly clock: Clock) {}

  @Tool({
    description:
      'Computes an arithmetic expression exactly and gives the result. Use it for every calculation instead of ' +
      'calculating yourself.',
    effect: 'read',
    input: {
      type: 'object',
      properties: {
        expression: {
          type: 'string',
          description:
            'Numbers, parentheses and + - * / ^ (power) % (remainder between two numbers, else percent), ' +
            'for example "(100 + 200) * 3 / 4".',
        },
      },
      required: ['expression'],
    },
  })
  calculator({ expression }: CalculatorInput): string {
    return calculate(expression);
  }

  @Tool({
    name: 'get_timestamp',
    description: 'Gives the current date and time. Use it whenever the present time or date matters.',
    effect: 'read',
    input: {
      type: 'object',
      properties: {
        timezone: {
          type: 'string',
          description: 'IANA time zone, for example "Asia/Shanghai"; default UTC.',
        },
        format: {
          type: 'string',
          enum: ['iso', 'epoch_s', 'epoch_ms'],
          description: 'iso (default): ISO 8601 with offset; epoch_s, epoch_ms: since 1970, in seconds or ms.',
        },
      },
    },
  })
  getTimestamp({ timezone = 'UTC', format = 'iso' }: TimestampInput): string | number {
    const now = this.clock.now();
    const iso = toIsoInZone(now, timezone);
    switch (format) {
      case 'iso':
        return iso;
      case 'epoch_s':
        return Math.floor(now / 1000);
      case 'epoch_ms':
        return now;
    }
  }
}
