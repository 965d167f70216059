import { AppError } from '../errors/index.js';
import { bounded, divide, type Fraction, multiply, power, subtract } from './fraction.engine.js';

const MAX_FACTORIAL = 170n;
const MAX_PLACES = 100n;
const ROOT_SCALE = 10n ** 40n;
const TEN: Fraction = { n: 10n, d: 1n };
const HALF: Fraction = { n: 1n, d: 2n };

/** Negative, 0 or positive, as `a` is less than, equal to or greater than `b`. */
export function compare(a: Fraction, b: Fraction): number {
  const difference = a.n * b.d - b.n * a.d;
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

export function absolute(x: Fraction): Fraction {
  return x.n < 0n ? { n: -x.n, d: x.d } : x;
}

export function floor({ n, d }: Fraction): Fraction {
  return { n: n / d - (n % d < 0n ? 1n : 0n), d: 1n };
}

/** Rounds to decimal places (default 0; negative: to tens, hundreds), halves away from 0. */
export function roundTo(x: Fraction, places: Fraction = { n: 0n, d: 1n }): Fraction {
  if (places.d !== 1n || places.n > MAX_PLACES || places.n < -MAX_PLACES) {
    throw new AppError('TOOL_FAILED', `round takes whole decimal places from -${MAX_PLACES} to ${MAX_PLACES}.`);
  }
  const scale = power(TEN, places);
  const scaled = multiply(absolute(x), scale);
  const size = divide(floor(subtract(scaled, { n: -HALF.n, d: HALF.d })), scale);
  return x.n < 0n ? { n: -size.n, d: size.d } : size;
}

/** Square root; exact if rational, otherwise to 40 decimal places, so that its square rounds to `x`. */
export function rootOf(x: Fraction): Fraction {
  if (x.n < 0n) throw new AppError('TOOL_FAILED', 'A negative number has no real square root.');
  const [n, d] = [wholeRoot(x.n), wholeRoot(x.d)];
  if (n * n === x.n && d * d === x.d) return { n, d };
  return bounded(wholeRoot(x.n * x.d * ROOT_SCALE * ROOT_SCALE), x.d * ROOT_SCALE);
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

export function commonDivisor(a: Fraction, b: Fraction): Fraction {
  return { n: divisorOf(wholeOf(a, 'gcd'), wholeOf(b, 'gcd')), d: 1n };
}

export function commonMultiple(a: Fraction, b: Fraction): Fraction {
  const [x, y] = [wholeOf(a, 'lcm'), wholeOf(b, 'lcm')];
  if (x === 0n || y === 0n) return { n: 0n, d: 1n };
  return absolute(bounded((x / divisorOf(x, y)) * y, 1n));
}

function divisorOf(x: bigint, y: bigint): bigint {
  let [a, b] = [x < 0n ? -x : x, y < 0n ? -y : y];
  while (b > 0n) [a, b] = [b, a % b];
  return a;
}

export function factorial(x: Fraction): Fraction {
  const n = wholeOf(x, 'factorial');
  if (n < 0n) throw new AppError('TOOL_FAILED', 'A negative number has no factorial.');
  if (n > MAX_FACTORIAL) {
    throw new AppError('TOOL_FAILED', `The result is too large (overflow): factorials go up to ${MAX_FACTORIAL}.`);
  }
  let product = 1n;
  for (let factor = 2n; factor <= n; factor++) product *= factor;
  return { n: product, d: 1n };
}

function wholeOf(x: Fraction, name: string): bigint {
  if (x.d !== 1n) throw new AppError('TOOL_FAILED', `${name} takes whole numbers only.`);
  return x.n;
}
