/** How much of everything there is at most. */
export const FACT_LIMITS = {
  /** Of one fact. */
  textCharacters: 4000,
  queryCharacters: 1000,
  /** Different ones that are looked for. */
  queryTerms: 64,
  /** Facts that the database's full text finds, to be ranked. */
  candidates: 200,
  /** Facts of one answer. */
  recalled: 50,
  /** Facts of one page. */
  listed: 200,
} as const;
