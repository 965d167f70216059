import type { Fraction } from 'fraction.js';
import { AppError } from '../errors/index.js';
import { add, divide, modulo, multiply, power, subtract } from './bounded-fraction.js';
import { factorial, MATH_CONSTANTS, MATH_FUNCTIONS, MATH_NAMES, parseFraction } from './math-function.registry.js';
import { type MathToken, nonsenseAt, tokenize } from './math-token.parser.js';

const MAX_DEPTH = 100;

/** The value of a part of the expression, and the form of that part where it matters to the operator beside it. */
interface Term {
  readonly value: Fraction;
  readonly form?: 'number' | 'percent' | 'operation' | 'unsigned product';
}

/** Recursive descent over the tokens of one expression; each method evaluates one level of precedence. */
export class ExpressionParser {
  private readonly tokens: readonly MathToken[];
  private index = 0;
  /** Open parentheses, prefix signs and powers. */
  private depth = 0;

  constructor(private readonly expression: string) {
    this.tokens = tokenize(expression, MATH_NAMES);
  }

  /** @throws AppError `TOOL_FAILED` for a syntax error, an undefined value, or more than 100 levels */
  evaluate(): Fraction {
    const { value } = this.sum();
    if (this.token) throw this.unexpected();
    return value;
  }

  private sum(): Term {
    let left = this.product();
    for (;;) {
      const sign = this.take('+') ?? this.take('-');
      if (!sign) return left;
      const right = this.product();
      const size = right.form === 'percent' ? multiply(left.value, right.value) : right.value;
      left = { value: (sign === '+' ? add : subtract)(left.value, size) };
    }
  }

  private product(): Term {
    let left = this.unsignedProduct();
    for (;;) {
      const sign = this.take('*') ?? this.take('/') ?? this.take('mod') ?? this.take('%');
      if (!sign) return left;
      const right = this.unsignedProduct();
      if (sign === '*') left = { value: multiply(left.value, right.value) };
      else if (sign === '/') left = { value: divided(left, right) };
      else left = { value: modulo(left.value, right.value) };
    }
  }

  /** `2 pi` and `2(3 + 4)`: products without a sign. */
  private unsignedProduct(): Term {
    let last = this.signed();
    let all = last;
    // Two numbers side by side are an error.
    while (startsOperand(this.token) && !(this.token?.kind === 'number' && last.form)) {
      last = this.signed();
      all = { value: multiply(all.value, last.value), form: 'unsigned product' };
    }
    return all;
  }

  private signed(): Term {
    const sign = this.take('-') ?? this.take('+');
    if (!sign) return this.raised();
    const { value } = this.nested(() => this.signed());
    return { value: sign === '-' ? value.neg() : value, form: 'operation' };
  }

  private raised(): Term {
    const base = this.suffixed();
    if (!this.take('^')) return base;
    const exponent = this.nested(() => this.signed());
    return { value: power(base.value, exponent.value), form: 'operation' };
  }

  private suffixed(): Term {
    let term = this.operand();
    for (;;) {
      if (this.take('!')) term = { value: factorial(term.value) };
      else if (this.token?.text === '%' && !startsOperand(this.tokens[this.index + 1])) {
        this.index++;
        term = { value: divide(term.value, 100), form: 'percent' };
      } else return term;
    }
  }

  private operand(): Term {
    const { token } = this;
    if (!token || !(token.kind !== 'sign' || token.text === '(')) throw this.unexpected();
    this.index++;
    if (token.kind === 'number') return { value: parseFraction(token.text), form: 'number' };
    if (token.kind === 'name') return { value: this.named(token.text) };
    const inner = this.nested(() => this.sum());
    this.close();
    return { value: inner.value };
  }

  private named(name: string): Fraction {
    const known = MATH_FUNCTIONS.get(name);
    if (!this.take('(')) {
      const constant = MATH_CONSTANTS.get(name);
      if (constant) return constant;
      throw refusal(`${name} is a function: write ${name}(…)`);
    }
    if (!known) throw refusal(`${name} is not a function`);
    const args = this.arguments();
    const [least, most] = known.takes;
    if (args.length >= least && args.length <= most) return known.compute(...args);
    const wanted = most > 2 ? `at least ${least}` : [...new Set(known.takes)].join(' or ');
    throw refusal(`${name} takes ${wanted} ${wanted === '1' ? 'number' : 'numbers'}, got ${args.length}`);
  }

  private arguments(): Fraction[] {
    if (this.take(')')) return [];
    const args = [this.nested(() => this.sum()).value];
    while (this.take(',')) args.push(this.nested(() => this.sum()).value);
    this.close();
    return args;
  }

  private close(): void {
    if (!this.take(')')) throw this.unexpected(', ")" is missing');
  }

  private nested(parse: () => Term): Term {
    if (++this.depth > MAX_DEPTH) {
      throw new AppError('TOOL_FAILED', `The expression is nested deeper than ${MAX_DEPTH} levels.`);
    }
    const term = parse();
    this.depth--;
    return term;
  }

  private get token(): MathToken | undefined {
    return this.tokens[this.index];
  }

  private take(text: string): string | undefined {
    if (this.token?.text !== text) return undefined;
    this.index++;
    return text;
  }

  private unexpected(hint?: string): AppError {
    return nonsenseAt(this.expression, this.token?.position ?? this.expression.trimEnd().length, hint);
  }
}

/** Rejects `1/2(3)`: it can mean 3/2 or 1/6. */
function divided(left: Term, right: Term): Fraction {
  if (left.form !== 'unsigned product' && right.form !== 'unsigned product') return divide(left.value, right.value);
  throw refusal('a product without its sign beside "/" is ambiguous: write * and parentheses');
}

function startsOperand(token: MathToken | undefined): boolean {
  return token !== undefined && (token.kind === 'number' || token.text === '(' || isOperandName(token));
}

/** `mod` after an operand is an operator. */
function isOperandName({ kind, text }: MathToken): boolean {
  return kind === 'name' && text !== 'mod';
}

function refusal(reason: string): AppError {
  return new AppError('TOOL_FAILED', `The expression is not arithmetic: ${reason}.`);
}
