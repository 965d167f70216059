import { AppError } from '../errors/index.js';
import { type Fraction, fromNumber, modulo, negate, power, subtract, toNumber } from './fraction.engine.js';
import {
  absolute,
  commonDivisor,
  commonMultiple,
  compare,
  factorial,
  rootOf,
  roundTo,
  floor,
} from './fraction-function.engine.js';
import { parseFraction } from './fraction.mapper.js';

interface MathFunction {
  /** Minimum and maximum number of arguments. */
  readonly takes: readonly [number, number];
  readonly compute: (...args: Fraction[]) => Fraction;
}

const PI = parseFraction('3.14159265358979323846264338327950288419716939937510');
const E = parseFraction('2.71828182845904523536028747135266249775724709369995');
const ONE: Fraction = { n: 1n, d: 1n };
const TWO_PI: Fraction = { n: PI.n * 2n, d: PI.d };
/** For larger angles a double has lost the digits of its position in the circle. */
const MAX_ANGLE = 1e15;
const ROUNDING_ERROR = 1e-15;
const MANY = 1_000;

export const MATH_CONSTANTS: ReadonlyMap<string, Fraction> = new Map([
  ['pi', PI],
  ['e', E],
]);

export const MATH_FUNCTIONS: ReadonlyMap<string, MathFunction> = new Map(
  Object.entries<MathFunction>({
    sqrt: { takes: [1, 1], compute: rootOf },
    abs: { takes: [1, 1], compute: absolute },
    round: { takes: [1, 2], compute: roundTo },
    floor: { takes: [1, 1], compute: floor },
    ceil: { takes: [1, 1], compute: (x) => negate(floor(negate(x))) },
    min: { takes: [1, MANY], compute: (...all) => all.reduce((a, b) => (compare(b, a) < 0 ? b : a)) },
    max: { takes: [1, MANY], compute: (...all) => all.reduce((a, b) => (compare(b, a) > 0 ? b : a)) },
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
    gcd: { takes: [2, MANY], compute: (...all) => all.reduce(commonDivisor) },
    lcm: { takes: [2, MANY], compute: (...all) => all.reduce(commonMultiple) },
    factorial: { takes: [1, 1], compute: factorial },
  }),
);

export const MATH_NAMES: ReadonlySet<string> = new Set([...MATH_FUNCTIONS.keys(), ...MATH_CONSTANTS.keys()]);

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
  if (base && compare(base, ONE) === 0) throw new AppError('TOOL_FAILED', 'There is no logarithm to the base 1.');
  const value = Math.log(toNumber(x)) / (base ? Math.log(toNumber(base)) : 1);
  if (x.n > 0n && (!base || base.n > 0n)) return fromNumber(value);
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
