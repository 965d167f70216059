/**
 * The parts of a turn that the requests of a run leave out; recorded. The turn itself remains whole: the journal and
 * the session have every result.
 */
export interface Compaction {
  /** Length of the text that remains of a result, in UTF-16 units, by its index in the turn; 0 for a note alone. */
  readonly shown: Readonly<Record<number, number>>;
  readonly summary?: MiddleSummary;
  /** Size of a request that the provider refused as too long, in tokens: the window of a model that no table has. */
  readonly refusedTokens?: number;
}

/** A text in place of the history, and of the turn between its input and its latest replies. */
export interface MiddleSummary {
  readonly text: string;
  /** Number of messages that it replaces. */
  readonly messages: number;
  /** Index in the turn of the first message after them. */
  readonly upTo: number;
}
