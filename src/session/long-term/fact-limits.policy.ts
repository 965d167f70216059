/** How much of everything there is at most. */
export const FACT_LIMITS = {
  /** Of one fact. */
  textCharacters: 4000,
  queryCharacters: 1000,
  /** Different ones that are looked for. */
  queryTerms: 64,
  /** Facts that the database's full text finds, to be ranked. */
  candidates: 200,
  /** An owner's newest facts with a vector, which are compared with a query's in this process. */
  vectors: 2000,
  /** Facts that are nearest to a query, to be ranked. */
  nearest: 50,
  /** Facts without a vector that get theirs at one opportunity. */
  filledIn: 16,
  /** Facts of one answer. */
  recalled: 50,
  /** Facts of one page. */
  listed: 200,
} as const;
