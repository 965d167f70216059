import { AppError } from '../errors/index.js';

/** An exact rational number n / d with d > 0. */
export interface Fraction {
  readonly n: bigint;
  readonly d: bigint;
}

/** Maximum bits of an exact number; a larger one is rounded to 15 significant digits. */
const MAX_EXACT_BITS = 2_048;
/**
 * Maximum bits of an exactly computed power, which is rounded afterwards if necessary: the power of a rounded base
 * would have wrong last digits.
 */
const MAX_POWER_BITS = 32_768n;
/** Bits of the largest double; a larger number is an overflow. */
const MAX_BITS = 1_024;
const ZERO: Fraction = { n: 0n, d: 1n };

export function add(a: Fraction, b: Fraction): Fraction {
  if (a.d === 1n && b.d === 1n) return bounded(a.n + b.n, 1n);
  return bounded(a.n * b.d + b.n * a.d, a.d * b.d);
}

export function negate(a: Fraction): Fraction {
  return { n: -a.n, d: a.d };
}

export function subtract(a: Fraction, b: Fraction): Fraction {
  return add(a, negate(b));
}

export function multiply(a: Fraction, b: Fraction): Fraction {
  return bounded(a.n * b.n, a.d * b.d);
}

export function divide(a: Fraction, b: Fraction): Fraction {
  if (b.n === 0n) throw new AppError('TOOL_FAILED', 'Division by zero.');
  return b.n > 0n ? bounded(a.n * b.d, a.d * b.n) : bounded(-a.n * b.d, a.d * -b.n);
}

/** Remainder of the floored division; it has the sign of `b`. */
export function modulo(a: Fraction, b: Fraction): Fraction {
  if (b.n === 0n) throw new AppError('TOOL_FAILED', 'Division by zero.');
  const quotient = divide(a, b);
  const whole = quotient.n / quotient.d - (quotient.n % quotient.d < 0n ? 1n : 0n);
  return subtract(a, multiply(b, { n: whole, d: 1n }));
}

export function power(base: Fraction, exponent: Fraction): Fraction {
  if (base.n === 0n && exponent.n < 0n) throw new AppError('TOOL_FAILED', 'Division by zero.');
  const size = exponent.n < 0n ? -exponent.n : exponent.n;
  const bits = BigInt(Math.max(bitsOf(base.n), bitsOf(base.d)));
  if (exponent.d === 1n && bits * size <= MAX_POWER_BITS) {
    const [n, d] = exponent.n < 0n ? [base.d ** size, base.n ** size] : [base.n ** size, base.d ** size];
    return d < 0n ? limited({ n: -n, d: -d }) : limited({ n, d });
  }
  const value = toNumber(base) ** toNumber(exponent);
  if (Number.isNaN(value))
    throw new AppError('TOOL_FAILED', 'A negative number to a fractional power is not a real number.');
  return base.n === 0n ? ZERO : rounded(value);
}

/** The nearest double, or one next to it. */
export function toNumber({ n, d }: Fraction): number {
  const shift = 20 - (n.toString().length - d.toString().length);
  const digits = shift >= 0 ? (n * 10n ** BigInt(shift)) / d : n / (d * 10n ** BigInt(-shift));
  return Number(`${digits}e${-shift}`);
}

/** Rounds a double to 15 significant digits; 0 stays 0. */
export function fromNumber(value: number): Fraction {
  return value === 0 ? ZERO : rounded(value);
}

/** Rounds a double to 15 significant digits; 0 means an underflow. */
function rounded(value: number): Fraction {
  if (!Number.isFinite(value)) throw overflow();
  if (value === 0) throw underflow();
  const [digits = '0', exponent = '0'] = value.toExponential(14).split('e');
  const n = BigInt(digits.replace('.', ''));
  const shift = Number(exponent) - 14;
  return shift >= 0 ? reduced(n * 10n ** BigInt(shift), 1n) : reduced(n, 10n ** BigInt(-shift));
}

/**
 * A fraction in lowest terms. @param d above 0 @throws AppError `TOOL_FAILED` for a number outside of the range of
 * doubles
 */
export function bounded(n: bigint, d: bigint): Fraction {
  return limited(reduced(n, d));
}

function limited(value: Fraction): Fraction {
  const [top, bottom] = [bitsOf(value.n), bitsOf(value.d)];
  if (top - bottom > MAX_BITS) throw overflow();
  if (bottom - top > MAX_BITS) throw underflow();
  return Math.max(top, bottom) > MAX_EXACT_BITS ? rounded(toNumber(value)) : value;
}

function reduced(n: bigint, d: bigint): Fraction {
  if (n === 0n) return ZERO;
  if (d === 1n) return { n, d };
  let [a, b] = [n < 0n ? -n : n, d];
  while (b > 0n) [a, b] = [b, a % b];
  return { n: n / a, d: d / a };
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
