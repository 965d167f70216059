import { withoutMark } from '../kernel/json/index.js';
import { editDistance } from '../kernel/text/index.js';
import { COMMON_NAMES, hostName, isForeign, isPrefixed, KNOWN_NAMES, PREFIX } from './variable-name.policy.js';

/** Up to this length one edit is a near miss; two would match HOME with HOST. */
const SHORT_NAME = 6;

const simplified = (name: string): string => name.toUpperCase().replaceAll('_', '');

/** Finds the meant one of several names. */
class NameFinder {
  private readonly byLetters: ReadonlyMap<string, string>;
  private readonly letters: readonly (readonly [name: string, letters: number])[];

  constructor(known: readonly string[]) {
    const shortKeys = known.filter((name) => name.endsWith('_API_KEY'));
    this.byLetters = new Map([
      ...shortKeys.map((name) => [simplified(name.replace('_API_KEY', '_KEY')), name] as const),
      ...known.map((name) => [simplified(name), name] as const),
    ]);
    this.letters = known.map((name) => [name, lettersOf(name)]);
  }

  has(name: string): boolean {
    return this.byLetters.get(simplified(name)) === name;
  }

  meant(name: string): string | undefined {
    const exact = this.byLetters.get(simplified(name));
    if (exact !== undefined) return exact;
    const letters = lettersOf(name);
    return this.letters.find(([known, own]) => isNear(known, name, own ^ letters))?.[0];
  }
}

/** The characters of a name, as a set of 32 bits. */
function lettersOf(name: string): number {
  let letters = 0;
  for (let at = 0; at < name.length; at++) letters |= 1 << (name.charCodeAt(at) & 31);
  return letters;
}

/**
 * Compares lengths and letters first: an environment has many names, and the distance of almost all of them to
 * Jackdaw's need not be computed. An edit changes at most two members of the set of letters.
 * @param differing the letters that only one of the names has
 */
function isNear(known: string, name: string, differing: number): boolean {
  const most = known.length <= SHORT_NAME ? 1 : 2;
  if (Math.abs(known.length - name.length) > most || bitsOf(differing) > 2 * most) return false;
  return editDistance(known, name) <= most;
}

function bitsOf(number: number): number {
  let bits = 0;
  for (let left = number; left !== 0; left &= left - 1) bits++;
  return bits;
}

const ALL = new NameFinder(KNOWN_NAMES);
const COMMON = new NameFinder(COMMON_NAMES);

/**
 * A warning for every unknown variable whose name is almost one of Jackdaw's.
 * @param isHost whether the names are those of a host application, whose own variables often resemble Jackdaw's
 */
export function nearMisses(names: readonly string[], isHost = false): string[] {
  const finder = isHost ? COMMON : ALL;
  return names
    .filter((name) => !finder.has(name))
    .map((name) => [name, finder.meant(name)] as const)
    .filter(([, meant]) => meant !== undefined)
    .map(([name, meant]) => `${name} is not a variable of Jackdaw and does nothing; did you mean ${meant}?`);
}

/** The error of an unknown variable with the prefix. */
export function unknownName(name: string): string {
  const meant = ALL.meant(name.slice(PREFIX.length));
  const remedy = meant === undefined ? 'remove it, or see docs/configuration.md' : `did you mean ${hostName(meant)}?`;
  return `${name} is not a variable of Jackdaw: ${remedy}`;
}

export type EnvRecord = Readonly<Record<string, string | undefined>>;

/** Variables of one source, by their names without the prefix. */
export interface MappedVariables {
  readonly values: Readonly<Record<string, string>>;
  /** The names that were set, by those without the prefix. */
  readonly names: Readonly<Record<string, string>>;
  readonly mistakes: readonly string[];
  /** Variables of a host application that have an effect only with the prefix. */
  readonly ignored: readonly string[];
  /** The variables as they were set. */
  readonly raw: Readonly<Record<string, string>>;
}

/**
 * Removes the prefix of the variables of one source. A name with the prefix takes precedence over the one without it, unless
 * it is empty.
 * @param isPrefixRequired whether names without the prefix belong to the host application
 */
export function mapNames(source: EnvRecord, isPrefixRequired = false): MappedVariables {
  const raw = withoutUndefined(source);
  const entries = Object.entries(raw).filter(([name, value]) => !isForeign(name, value));
  const ours = entries.filter(([name]) => name.startsWith(PREFIX));
  const others = entries.filter(([name]) => !name.startsWith(PREFIX));
  const isIgnored = ([name]: readonly [string, string]) => isPrefixRequired && isPrefixed(name);
  const unprefixed = others.filter((entry) => !isIgnored(entry));
  const values = Object.fromEntries(unprefixed);
  const names = Object.fromEntries(unprefixed.map(([name]) => [name, name]));
  for (const [name, value] of ours) {
    const bare = name.slice(PREFIX.length);
    if (!isPrefixed(bare) || (isEmpty(value) && Object.hasOwn(values, bare))) continue;
    values[bare] = value;
    names[bare] = name;
  }
  const set = (some: typeof entries) => some.filter(([, value]) => !isEmpty(value)).map(([name]) => name);
  const unknown = set(ours).filter((name) => !isPrefixed(name.slice(PREFIX.length)));
  return { values, names, raw, mistakes: unknown.map(unknownName), ignored: set(others.filter(isIgnored)) };
}

function isEmpty(value: string): boolean {
  return value.trim() === '';
}

/**
 * Drops undefined values. Removes a byte order mark at a name, left by a program that loaded the `.env` file itself.
 */
function withoutUndefined(record: EnvRecord): Record<string, string> {
  const entries = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [withoutMark(name), value!]));
}

/** A quoted value, or a name. */
const QUOTED_OR_NAME = /"(?:[^"\\]|\\.)*"|'[^'\n]*'|\b[A-Z][A-Z\d_]+\b/g;

/**
 * Replaces the names of Jackdaw's variables in a message by those that were set, or that the application would set.
 * @param names the names that were set, by those without the prefix
 */
export function withSetNames(text: string, names: Readonly<Record<string, string>>, isHost: boolean): string {
  return text.replaceAll(QUOTED_OR_NAME, (token) => {
    if (!isPrefixed(token)) return token;
    return names[token] ?? (isHost ? hostName(token) : token);
  });
}
