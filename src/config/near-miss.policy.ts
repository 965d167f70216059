import { editDistance } from '../kernel/index.js';
import { ENV_NAMES, secretFileOf } from './env.schema.js';

/** Up to this length one edit is a near miss; two would match HOME with HOST. */
const SHORT_NAME = 6;

const KNOWN: readonly string[] = [...ENV_NAMES, ...ENV_NAMES.flatMap((name) => secretFileOf(name) ?? [])];
const simplified = (name: string): string => name.toUpperCase().replaceAll('_', '');
const BY_LETTERS = new Map<string, string>(KNOWN.map((name) => [simplified(name), name]));

function meantName(name: string): string | undefined {
  return BY_LETTERS.get(simplified(name)) ?? KNOWN.find((known) => isNear(known, name));
}

/** Compares lengths first: an environment has many names, and most differ from Jackdaw's by length alone. */
function isNear(known: string, name: string): boolean {
  const most = known.length <= SHORT_NAME ? 1 : 2;
  return Math.abs(known.length - name.length) <= most && editDistance(known, name) <= most;
}

/** A warning for every unknown variable whose name is almost one of Jackdaw's. */
export function nearMisses(names: readonly string[]): string[] {
  const known = new Set(KNOWN);
  return names
    .filter((name) => !known.has(name))
    .map((name) => [name, meantName(name)] as const)
    .filter(([, meant]) => meant !== undefined)
    .map(([name, meant]) => `${name} is not a variable of Jackdaw and does nothing; did you mean ${meant}?`);
}
