import { ENV_NAMES } from './env.schema.js';

/** Up to this length one edit is a near miss; two would match HOME with HOST. */
const SHORT_NAME = 6;

const simplified = (name: string): string => name.toUpperCase().replaceAll('_', '');
const BY_LETTERS = new Map<string, string>(ENV_NAMES.map((name) => [simplified(name), name]));

/** Damerau-Levenshtein distance, optimal string alignment: insert, delete, replace, swap neighbours. */
export function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      let best = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, beforeLast[j - 2]! + 1);
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}

function meantName(name: string): string | undefined {
  return BY_LETTERS.get(simplified(name)) ?? ENV_NAMES.find((known) => isNear(known, name));
}

/** Compares lengths first: an environment has many names, and most differ from Jackdaw's by length alone. */
function isNear(known: string, name: string): boolean {
  const most = known.length <= SHORT_NAME ? 1 : 2;
  return Math.abs(known.length - name.length) <= most && distance(known, name) <= most;
}

/** A warning for every unknown variable whose name is almost one of Jackdaw's. */
export function nearMisses(names: readonly string[]): string[] {
  const known = new Set<string>(ENV_NAMES);
  return names
    .filter((name) => !known.has(name))
    .map((name) => [name, meantName(name)] as const)
    .filter(([, meant]) => meant !== undefined)
    .map(([name, meant]) => `${name} is not a variable of Jackdaw and does nothing; did you mean ${meant}?`);
}
