import { Fraction } from 'fraction.js';
import { AppError } from '../errors/index.js';

/** Maximum bits of an exact number; a larger one is rounded to 15 significant digits. */
const MAX_EXACT_BITS = 2_048;
/**
 * Maximum bits of an exactly computed power, which is rounded afterwards if necessary: the power of a rounded base
 * would have wrong last digits.
 */
const MAX_POWER_BITS = 32_768n;
/** Bits of the largest double; a larger number is an overflow. */
const MAX_BITS = 1_024;

/** An unreduced number n / d with d above 0. */
interface Ratio {
  readonly n: bigint;
  readonly d: bigint;
}

export function add(a: Fraction, b: Fraction): Fraction {
  return bounded(a.add(b));
}

export function subtract(a: Fraction, b: Fraction): Fraction {
  return bounded(a.sub(b));
}

export function multiply(a: Fraction, b: Fraction): Fraction {
  return bounded(a.mul(b));
}

export function divide(a: Fraction, b: Fraction | number): Fraction {
  if (b === 0 || (b instanceof Fraction && b.n === 0n)) throw new AppError('TOOL_FAILED', 'Division by zero.');
  return bounded(a.div(b));
}

/** Remainder of the floored division; it has the sign of `b`. */
export function modulo(a: Fraction, b: Fraction): Fraction {
  return subtract(a, multiply(b, divide(a, b).floor()));
}

export function power(base: Fraction, exponent: Fraction): Fraction {
  const isNegative = exponent.s < 0n;
  if (base.n === 0n && isNegative) throw new AppError('TOOL_FAILED', 'Division by zero.');
  const bits = BigInt(Math.max(bitsOf(base.n), bitsOf(base.d)));
  if (exponent.d === 1n && bits * exponent.n <= MAX_POWER_BITS) {
    const [n, d] = isNegative ? [base.d, base.n] : [base.n, base.d];
    const sign = exponent.n % 2n === 0n ? 1n : base.s;
    return fractionOf({ n: sign * n ** exponent.n, d: d ** exponent.n });
  }
  const value = toNumber(base) ** toNumber(exponent);
  if (Number.isNaN(value))
    throw new AppError('TOOL_FAILED', 'A negative number to a fractional power is not a real number.');
  return base.n === 0n ? new Fraction(0) : rounded(value);
}

/** A fraction in lowest terms. @throws AppError `TOOL_FAILED` for a number outside of the range of doubles */
export function fractionOf(ratio: Ratio): Fraction {
  return isExact(ratio) ? new Fraction(ratio.n, ratio.d) : rounded(nearest(ratio));
}

/** The nearest double, or one next to it. */
export function toNumber(value: Fraction): number {
  return nearest({ n: value.s * value.n, d: value.d });
}

/** Rounds a double to 15 significant digits; 0 stays 0. */
export function fromNumber(value: number): Fraction {
  return value === 0 ? new Fraction(0) : rounded(value);
}

function bounded(value: Fraction): Fraction {
  return isExact(value) ? value : rounded(toNumber(value));
}

/** Whether a number is short enough to stay exact. */
function isExact({ n, d }: Ratio): boolean {
  const [top, bottom] = [bitsOf(n), bitsOf(d)];
  if (top - bottom > MAX_BITS) throw overflow();
  if (bottom - top > MAX_BITS) throw underflow();
  return Math.max(top, bottom) <= MAX_EXACT_BITS;
}

function nearest({ n, d }: Ratio): number {
  const shift = 20 - (n.toString().length - d.toString().length);
  const digits = shift >= 0 ? (n * 10n ** BigInt(shift)) / d : n / (d * 10n ** BigInt(-shift));
  return Number(`${digits}e${-shift}`);
}

/** Rounds a double to 15 significant digits; 0 means an underflow. */
function rounded(value: number): Fraction {
  if (!Number.isFinite(value)) throw overflow();
  if (value === 0) throw underflow();
  const [digits = '0', exponent = '0'] = value.toExponential(14).split('e');
  const n = BigInt(digits.replace('.', ''));
  const shift = Number(exponent) - 14;
  return shift >= 0 ? new Fraction(n * 10n ** BigInt(shift), 1n) : new Fraction(n, 10n ** BigInt(-shift));
}

function bitsOf(value: bigint): number {
  // Fast path for small numbers.
  if (value < 2n ** 53n && value > -(2n ** 53n)) return Math.ceil(Math.log2(Math.abs(Number(value)) + 1));
  return value.toString(16).length * 4;
}

function overflow(): AppError {
  return new AppError('TOOL_FAILED', 'The result is too large (overflow): it has more than 308 digits.');
}

function underflow(): AppError {
  return new AppError(
    'TOOL_FAILED',
    'The result is too close to 0 (underflow): it begins after the 308th decimal place.',
  );
}
