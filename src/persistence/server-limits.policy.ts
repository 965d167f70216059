/** Time limits for database servers. */
export const SERVER_LIMITS = {
  /** Connecting, and getting a connection of the pool. */
  connectMs: 10_000,
  /** One statement, measured by the server. */
  statementMs: 30_000,
  /** One answer, measured by this process, as a hanging server ends no statement. */
  answerMs: 35_000,
} as const;
