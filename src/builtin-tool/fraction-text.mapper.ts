import type { Fraction } from 'fraction.js';
import { fractionOf } from './bounded-fraction.js';

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
