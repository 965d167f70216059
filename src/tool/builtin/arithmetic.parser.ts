import { AppError } from '../../common/index.js';
import { type ArithmeticToken, tokenize } from './arithmetic-token.parser.js';
import { add, divide, type Fraction, modulo, multiply, negate, power, subtract } from './fraction.engine.js';
import { formatFraction } from './fraction.mapper.js';

const MAX_CHARACTERS = 1_000;
const MAX_DEPTH = 100;
const HUNDRED: Fraction = { n: 100n, d: 1n };

/**
 * Computes an expression in exact fractions and gives the result as text, rounded to 15 significant digits where it is
 * not exact. `^` binds closer than a sign before it and to the right; `%` is the remainder (with the divisor's sign)
 * when an operand follows, else percent. Throws `TOOL_FAILED` saying what is wrong and where.
 */
export function calculate(expression: string): string {
  if (expression.length > MAX_CHARACTERS) {
    throw new AppError('TOOL_FAILED', `The expression is longer than ${MAX_CHARACTERS} characters.`);
  }
  return formatFraction(new ArithmeticParser(tokenize(expression)).parse());
}

class ArithmeticParser {
  private at = 0;
  private depth = 0;

  constructor(private readonly tokens: readonly ArithmeticToken[]) {}

  parse(): Fraction {
    const value = this.sum();
    if (this.current.kind !== 'end') throw this.unexpected();
    return value;
  }

  private get current(): ArithmeticToken {
    return this.tokens[this.at] as ArithmeticToken;
  }

  private sum(): Fraction {
    let value = this.product();
    for (;;) {
      if (this.take('+')) value = add(value, this.product());
      else if (this.take('-')) value = subtract(value, this.product());
      else return value;
    }
  }

  private product(): Fraction {
    let value = this.signed();
    for (;;) {
      if (this.take('*')) value = multiply(value, this.signed());
      else if (this.take('/')) value = divide(value, this.signed());
      else if (this.take('%')) value = modulo(value, this.signed());
      else return value;
    }
  }

  private signed(): Fraction {
    return this.nested(() => {
      if (this.take('-')) return negate(this.signed());
      if (this.take('+')) return this.signed();
      return this.powered();
    });
  }

  private powered(): Fraction {
    const base = this.percented();
    return this.take('^') ? power(base, this.signed()) : base;
  }

  private percented(): Fraction {
    let value = this.operand();
    while (this.current.text === '%' && !this.startsOperand(this.tokens[this.at + 1])) {
      this.at++;
      value = divide(value, HUNDRED);
    }
    return value;
  }

  private startsOperand(token: ArithmeticToken | undefined): boolean {
    return token?.kind === 'number' || token?.text === '(';
  }

  private operand(): Fraction {
    const { current } = this;
    if (current.kind === 'number') {
      this.at++;
      return current.value;
    }
    if (!this.take('(')) throw this.unexpected();
    const value = this.sum();
    if (!this.take(')')) throw this.unexpected('")"');
    return value;
  }

  private take(operator: string): boolean {
    if (this.current.kind !== 'operator' || this.current.text !== operator) return false;
    this.at++;
    return true;
  }

  private nested(read: () => Fraction): Fraction {
    if (++this.depth > MAX_DEPTH) {
      throw new AppError('TOOL_FAILED', `The expression is nested deeper than ${MAX_DEPTH} levels.`);
    }
    const value = read();
    this.depth--;
    return value;
  }

  private unexpected(wanted?: string): AppError {
    const { kind, text, position } = this.current;
    const found = kind === 'end' ? 'it ends too early' : `unexpected ${JSON.stringify(text)}`;
    const missing = wanted ? `, ${wanted} is missing` : '';
    return new AppError('TOOL_FAILED', `The expression is not arithmetic: ${found} at position ${position}${missing}.`);
  }
}
