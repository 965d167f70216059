/** Constant of Cormack, Clarke and Büttcher, SIGIR 2009: limits the weight of the first places of one ranking. */
const K = 60;

export interface Ranked {
  readonly id: string;
  readonly score: number;
}

/** Merges rankings of ids, best first, by reciprocal rank fusion: the sum of 1 / (60 + place), counted from 1. */
export function fuseRankings(rankings: readonly (readonly string[])[]): Ranked[] {
  const scores = new Map<string, number>();
  for (const ranking of rankings) {
    for (const [at, id] of ranking.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (K + at + 1));
  }
  return [...scores]
    .map(([id, score]) => ({ id, score }))
    .toSorted((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1));
}
