import { Fraction } from 'fraction.js';
import { AppError } from '../errors/index.js';
import {
  add,
  divide,
  fractionOf,
  fromNumber,
  modulo,
  multiply,
  power,
  subtract,
  toNumber,
} from './bounded-fraction.js';

const SIGNIFICANT_DIGITS = 15;
/** Maximum decimal places of a terminating decimal that is formatted exactly. */
const EXACT_PLACES = 20;
/** A number with more zeros after the point is formatted as `1.5e-9`. */
const MAX_LEADING_ZEROS = 6;

/** Parses a number token: `12`, `.5`, `3.`, `1.5e3`. */
export function parseFraction(text: string): Fraction {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const shift = Number(exponent) - fraction.length;
  const n = BigInt(whole + fraction);
  return fractionOf(shift >= 0 ? { n: n * 10n ** BigInt(shift), d: 1n } : { n, d: 10n ** BigInt(-shift) });
}

/** Formats integers and decimals of up to 20 places exactly, other numbers to 15 significant digits. */
export function formatFraction({ s, n: size, d }: Fraction): string {
  const sign = s < 0n ? '-' : '';
  const whole = size / d;
  const rest = size % d;
  if (rest === 0n) return `${sign}${whole}`;
  const zeros = whole > 0n ? 0 : leadingZeros(rest, d);
  const places = placesOf(whole, rest, d, zeros);
  const scale = 10n ** BigInt(places);
  const scaled = (size * scale * 2n + d) / (2n * d);
  const decimals = (scaled % scale).toString().padStart(places, '0').replace(/0+$/, '');
  const text = decimals === '' ? `${scaled / scale}` : `${scaled / scale}.${decimals}`;
  return sign + (zeros > MAX_LEADING_ZEROS ? String(Number(text)) : text);
}

function placesOf(whole: bigint, rest: bigint, d: bigint, zeros: number): number {
  if ((rest * 10n ** BigInt(EXACT_PLACES)) % d === 0n) return EXACT_PLACES;
  if (whole > 0n) return Math.max(SIGNIFICANT_DIGITS - whole.toString().length, 0);
  return zeros + SIGNIFICANT_DIGITS;
}

/** Number of zeros between the point and the first other digit of rest / d, which is below 1. */
function leadingZeros(rest: bigint, d: bigint): number {
  const guess = Math.max(d.toString().length - rest.toString().length - 1, 0);
  return rest * 10n ** BigInt(guess + 1) >= d ? guess : guess + 1;
}

interface MathFunction {
  /** Minimum and maximum number of arguments. */
  readonly takes: readonly [number, number];
  readonly compute: (...args: Fraction[]) => Fraction;
}

const PI = parseFraction('3.14159265358979323846264338327950288419716939937510');
const E = parseFraction('2.71828182845904523536028747135266249775724709369995');
const TWO_PI = PI.mul(2);
const TEN = new Fraction(10);
const HALF = new Fraction(1, 2);
const ZERO = new Fraction(0);
/** For larger angles a double has lost the digits of its position in the circle. */
const MAX_ANGLE = 1e15;
const ROUNDING_ERROR = 1e-15;
const MAX_FACTORIAL = 170n;
const MAX_PLACES = 100n;
const ROOT_SCALE = 10n ** 40n;
const MANY = 1_000;

export const MATH_CONSTANTS: ReadonlyMap<string, Fraction> = new Map([
  ['pi', PI],
  ['e', E],
]);

export const MATH_FUNCTIONS: ReadonlyMap<string, MathFunction> = new Map(
  Object.entries<MathFunction>({
    sqrt: { takes: [1, 1], compute: rootOf },
    abs: { takes: [1, 1], compute: (x) => x.abs() },
    round: { takes: [1, 2], compute: roundTo },
    floor: { takes: [1, 1], compute: (x) => x.floor() },
    ceil: { takes: [1, 1], compute: (x) => x.ceil() },
    min: { takes: [1, MANY], compute: (...all) => all.reduce((a, b) => (b.compare(a) < 0 ? b : a)) },
    max: { takes: [1, MANY], compute: (...all) => all.reduce((a, b) => (b.compare(a) > 0 ? b : a)) },
    sin: { takes: [1, 1], compute: (x) => fromNumber(sine(x)) },
    cos: { takes: [1, 1], compute: (x) => fromNumber(cosine(x)) },
    tan: { takes: [1, 1], compute: tangent },
    asin: real('asin', Math.asin, 'from -1 to 1'),
    acos: real('acos', Math.acos, 'from -1 to 1'),
    atan: real('atan', Math.atan, 'any number'),
    ln: real('ln', Math.log, 'above 0'),
    log: { takes: [1, 2], compute: logarithm },
    log10: real('log10', Math.log10, 'above 0'),
    log2: real('log2', Math.log2, 'above 0'),
    exp: { takes: [1, 1], compute: (x) => power(E, x) },
    pow: { takes: [2, 2], compute: power },
    mod: { takes: [2, 2], compute: modulo },
    gcd: { takes: [2, MANY], compute: (...all) => all.reduce((a, b) => wholeOf(a, 'gcd').gcd(wholeOf(b, 'gcd'))) },
    lcm: { takes: [2, MANY], compute: (...all) => all.reduce(commonMultiple) },
    factorial: { takes: [1, 1], compute: factorial },
  }),
);

export const MATH_NAMES: ReadonlySet<string> = new Set([...MATH_FUNCTIONS.keys(), ...MATH_CONSTANTS.keys()]);

/** Rounds to decimal places (default 0; negative: to tens, hundreds), halves away from 0. */
function roundTo(x: Fraction, places = ZERO): Fraction {
  if (places.d !== 1n || places.n > MAX_PLACES) {
    throw new AppError('TOOL_FAILED', `round takes whole decimal places from -${MAX_PLACES} to ${MAX_PLACES}.`);
  }
  const scale = power(TEN, places);
  const size = divide(add(multiply(x.abs(), scale), HALF).floor(), scale);
  return x.s < 0n ? size.neg() : size;
}

/** Square root; exact if rational, otherwise to 40 decimal places, so that its square rounds to `x`. */
function rootOf(x: Fraction): Fraction {
  if (x.s < 0n) throw new AppError('TOOL_FAILED', 'A negative number has no real square root.');
  const [n, d] = [wholeRoot(x.n), wholeRoot(x.d)];
  if (n * n === x.n && d * d === x.d) return new Fraction(n, d);
  return fractionOf({ n: wholeRoot(x.n * x.d * ROOT_SCALE * ROOT_SCALE), d: x.d * ROOT_SCALE });
}

/** The largest integer whose square is at most `x`, by Newton's method. */
function wholeRoot(x: bigint): bigint {
  if (x < 2n) return x;
  let root = 1n << BigInt(Math.ceil(x.toString(2).length / 2));
  for (;;) {
    const next = (root + x / root) / 2n;
    if (next >= root) return root;
    root = next;
  }
}

function commonMultiple(a: Fraction, b: Fraction): Fraction {
  const divisor = wholeOf(a, 'lcm').gcd(wholeOf(b, 'lcm'));
  return divisor.n === 0n ? ZERO : multiply(a, b.div(divisor)).abs();
}

/** The factorial of an integer from 0 to 170. */
export function factorial(x: Fraction): Fraction {
  if (wholeOf(x, 'factorial').s < 0n) throw new AppError('TOOL_FAILED', 'A negative number has no factorial.');
  if (x.n > MAX_FACTORIAL) {
    throw new AppError('TOOL_FAILED', `The result is too large (overflow): factorials go up to ${MAX_FACTORIAL}.`);
  }
  let product = 1n;
  for (let factor = 2n; factor <= x.n; factor++) product *= factor;
  return new Fraction(product);
}

function wholeOf(x: Fraction, name: string): Fraction {
  if (x.d === 1n) return x;
  throw new AppError('TOOL_FAILED', `${name} takes whole numbers only.`);
}

/** A function of doubles, with an error for arguments outside of its domain. */
function real(name: string, compute: (x: number) => number, domain: string): MathFunction {
  return {
    takes: [1, 1],
    compute: (x) => {
      const value = compute(toNumber(x));
      if (Number.isFinite(value)) return fromNumber(value);
      throw new AppError('TOOL_FAILED', `${name} takes a number ${domain}.`);
    },
  };
}

function logarithm(x: Fraction, base?: Fraction): Fraction {
  if (base?.equals(1)) throw new AppError('TOOL_FAILED', 'There is no logarithm to the base 1.');
  const value = Math.log(toNumber(x)) / (base ? Math.log(toNumber(base)) : 1);
  if (x.compare(0) > 0 && (!base || base.compare(0) > 0)) return fromNumber(value);
  throw new AppError('TOOL_FAILED', 'log takes a number above 0, and a base above 0.');
}

function sine(x: Fraction): number {
  return snapped(Math.sin(angleOf(x)), x);
}

function cosine(x: Fraction): number {
  return snapped(Math.cos(angleOf(x)), x);
}

function tangent(x: Fraction): Fraction {
  if (cosine(x) === 0) throw new AppError('TOOL_FAILED', 'tan has no value at this angle: its cosine is 0.');
  return fromNumber(sine(x) / cosine(x));
}

function angleOf(x: Fraction): number {
  const size = Math.abs(toNumber(x));
  if (size > MAX_ANGLE) throw new AppError('TOOL_FAILED', 'The angle is larger than 10^15 radians.');
  return toNumber(size > 4 ? subtract(modulo(x, TWO_PI), PI) : x) + (size > 4 ? Math.PI : 0);
}

/** Rounds a value to 0 if it differs from 0 only by the rounding of the angle. */
function snapped(value: number, x: Fraction): number {
  return Math.abs(value) < ROUNDING_ERROR && Math.abs(toNumber(x)) > ROUNDING_ERROR ** 0.5 ? 0 : value;
}
