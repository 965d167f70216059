import type { CallAccount, Usage } from '../llm/index.js';

/** Counts, in a run, what models take that a tool asks of itself. */
export interface ModelMeter {
  /** Where the next call counts. */
  next(): CallAccount;
  /** What a call took. */
  count(model: string, usage: Usage): void;
}
