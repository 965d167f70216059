/** How long a database server may take before what is asked of it fails. */
export const SERVER_LIMITS = {
  /** To connect, and to get a connection of the pool. */
  connectMs: 10_000,
  /** For one statement, as the server itself counts. */
  statementMs: 30_000,
  /** For an answer, as we count: a server that hangs ends nothing itself. */
  answerMs: 35_000,
  /** Connections that one process holds at most. */
  connections: 10,
} as const;
