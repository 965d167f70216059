/** Damerau-Levenshtein distance, optimal string alignment: insert, delete, replace, swap neighbours. */
export function editDistance(a: string, b: string): number {
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

/** Up to three known names similar to a misspelt one, nearest first. @param name may be absent in untyped code */
export function nearNames(name: unknown, names: Iterable<string>): string[] {
  const wanted = String(name).toLowerCase().slice(0, 64);
  const limit = Math.max(2, Math.floor(wanted.length / 3));
  return [...names]
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/**
 * The mistake of an options object with an unknown option, which untyped callers can pass.
 * @returns `unknown option "x": did you mean "y"?`; `undefined` if it has none
 */
export function unknownOption(options: object, known: Iterable<string>): string | undefined {
  const names = new Set(known);
  const unknown = Object.keys(options).find((key) => !names.has(key));
  if (unknown === undefined) return undefined;
  const [near] = nearNames(unknown, names);
  const remedy = near === undefined ? `remove it, or use one of ${[...names].join(', ')}` : `did you mean "${near}"?`;
  return `unknown option "${unknown}": ${remedy}`;
}
