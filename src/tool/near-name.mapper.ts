import { editDistance } from '../kernel/index.js';

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
