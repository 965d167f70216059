import type { Statement } from './statement.types.js';

/** What is written with whatever is committed next, and costs no commit of its own. */
export interface CommitCompanion {
  /** What there is to write; it has no conditions. Between this and `end` nothing else happens. */
  begin(): readonly Statement[];
  /** @param isWritten whether that is durable now; else it is asked for again */
  end(isWritten: boolean): void;
}
