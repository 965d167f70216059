/** Limits of facts and of the search for them. */
export const FACT_LIMITS = {
  /** Characters of one fact. */
  textCharacters: 4000,
  queryCharacters: 1000,
  /** Different search terms of a query. */
  queryTerms: 64,
  /** Facts that the full-text search returns for ranking. */
  candidates: 200,
  /** An owner's newest facts with a vector, compared with a query in this process. */
  vectors: 2000,
  /** Facts nearest to a query, for ranking. */
  nearest: 50,
  /** Facts whose missing vectors are computed in one call. */
  filledIn: 16,
  /** Facts of one answer. */
  recalled: 50,
  /** Facts of one page. */
  listed: 200,
} as const;
