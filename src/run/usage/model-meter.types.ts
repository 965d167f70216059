import type { CallAccount, Usage } from '../../llm/chat/index.js';

/** Counts the usage of model calls that a tool makes, for the run. */
export interface ModelMeter {
  /** The account of the next call. */
  next(): CallAccount;
  /** Counts a call's usage. */
  count(model: string, usage: Usage): void;
}
