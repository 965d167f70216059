/** BM25 parameters with their usual values: K1 saturates repeated occurrences, B normalises the length of a text. */
const K1 = 1.2;
const B = 0.75;

export interface IndexedText {
  readonly id: string;
  readonly tokens: readonly string[];
}

/**
 * The ids of the texts by relevance to the tokens, best first; of equal texts the newer first, whose id is greater.
 * Okapi BM25 (Robertson and Zaragoza 2009, formula 3.15) over the candidates: a word in all of them has little weight,
 * on every database alike (PostgreSQL's own rank does not weight rare words).
 */
export function rankByTerms(tokens: readonly string[], candidates: readonly IndexedText[]): string[] {
  const counts = candidates.map((candidate) => countsOf(tokens, candidate));
  const weights = tokens.map((token) => {
    const having = counts.filter((count) => count.has(token)).length;
    return Math.log(1 + (candidates.length - having + 0.5) / (having + 0.5));
  });
  const length = candidates.reduce((sum, candidate) => sum + candidate.tokens.length, 0) / candidates.length;
  return candidates
    .map((candidate, at) => {
      const norm = K1 * (1 - B + (B * candidate.tokens.length) / length);
      const score = tokens.reduce((sum, token, i) => {
        const count = counts[at]!.get(token) ?? 0;
        return sum + (weights[i]! * count * (K1 + 1)) / (count + norm);
      }, 0);
      return { id: candidate.id, score };
    })
    .toSorted((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id);
}

function countsOf(tokens: readonly string[], candidate: IndexedText): Map<string, number> {
  const wanted = new Set(tokens);
  const counts = new Map<string, number>();
  for (const token of candidate.tokens) if (wanted.has(token)) counts.set(token, (counts.get(token) ?? 0) + 1);
  return counts;
}
