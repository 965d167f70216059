import { Injectable } from '@nestjs/common';
import { Tool } from '../tool/index.js';
import { createCalculator } from './calculator.factory.js';
import { Clock } from './clock.js';
import { formatTime } from './time-format.mapper.js';
import { abbreviationNote } from './timestamp.mapper.js';

interface CalculatorInput {
  readonly expression: string;
}

interface TimestampInput {
  readonly timezone?: string;
  readonly format?: string;
}

/** Built-in tools: an exact calculator and the current time. */
@Injectable()
export class BuiltinTools {
  constructor(private readonly clock: Clock) {}

  @Tool({
    description:
      'Computes an arithmetic expression exactly and gives the result. Use it for every calculation instead of ' +
      'calculating yourself.',
    effect: 'read',
    // Only the arguments are in the result.
    private: false,
    input: {
      type: 'object',
      properties: {
        expression: {
          type: 'string',
          description:
            'Numbers, parentheses, + - * / ^ (power) ! % (remainder between two numbers, else percent: "20%*50" is 10, ' +
            '"200+10%" is 220), pi, e, and sqrt abs round(x, places) floor ceil min max sin cos tan asin acos atan ' +
            '(radians) ln log (natural; log(x, base)) log10 log2 exp pow mod gcd lcm factorial. For example ' +
            '"(100 + 200) * 3 / 4".',
        },
      },
      required: ['expression'],
    },
  })
  async calculator({ expression }: CalculatorInput): Promise<string> {
    const calculate = await createCalculator();
    return calculate(expression);
  }

  @Tool({
    name: 'get_timestamp',
    description: 'Gives the current date and time. Use it whenever the present time or date matters.',
    effect: 'read',
    // Only the arguments are in the result.
    private: false,
    input: {
      type: 'object',
      properties: {
        timezone: {
          type: 'string',
          description:
            'IANA time zone, for example "Asia/Shanghai"; default UTC. Abbreviations such as CST are ambiguous.',
        },
        format: {
          type: 'string',
          maxLength: 100,
          description:
            'iso (default): 2026-01-31T09:05:00+08:00; epoch_s, epoch_ms: since 1970, in seconds or ms; date: ' +
            '2026-01-31; time: 09:05:00; datetime: 2026-01-31 09:05:00; rfc2822: Sat, 31 Jan 2026 09:05:00 +0800; or ' +
            'a pattern of YYYY YY MMMM MMM MM M DD D dddd ddd HH H hh h A mm m ss s SSS Z ZZ and [text], such as ' +
            '"YYYY/MM/DD HH:mm".',
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
