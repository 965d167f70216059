import { editDistance } from './edit-distance.mapper.js';

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
