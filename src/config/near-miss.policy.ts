import { editDistance } from '../kernel/index.js';
import { COMMON_NAMES, hostName, KNOWN_NAMES, PREFIX } from './variable-name.policy.js';

/** Up to this length one edit is a near miss; two would match HOME with HOST. */
const SHORT_NAME = 6;

const simplified = (name: string): string => name.toUpperCase().replaceAll('_', '');

/** Finds the meant one of several names. */
class NameFinder {
  private readonly byLetters: ReadonlyMap<string, string>;

  constructor(private readonly known: readonly string[]) {
    this.byLetters = new Map(known.map((name) => [simplified(name), name]));
  }

  has(name: string): boolean {
    return this.byLetters.get(simplified(name)) === name;
  }

  meant(name: string): string | undefined {
    return this.byLetters.get(simplified(name)) ?? this.known.find((known) => isNear(known, name));
  }
}

/** Compares lengths first: an environment has many names, and most differ from Jackdaw's by length alone. */
function isNear(known: string, name: string): boolean {
  const most = known.length <= SHORT_NAME ? 1 : 2;
  return Math.abs(known.length - name.length) <= most && editDistance(known, name) <= most;
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
