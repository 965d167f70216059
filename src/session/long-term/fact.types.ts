import type { ModelMeter } from '../../run/index.js';

/** Whose facts: nobody else's exist for a call. */
export interface FactOwner {
  readonly tenant: string;
  /** The id of the principal. */
  readonly user: string;
}

export interface Fact {
  readonly id: string;
  readonly text: string;
  /** Epoch ms. */
  readonly createdAt: number;
  /** When the same text was last remembered; epoch ms. */
  readonly updatedAt: number;
}

export interface RecalledFact extends Fact {
  /** The higher the better; to be compared within one answer only. */
  readonly score: number;
}

export interface RememberOptions {
  /** Remembering again with the same key of the same owner is remembering once: the first text stays. */
  readonly key?: string;
  /** Ends the wait for the embedding; what was to be remembered is. */
  readonly signal?: AbortSignal;
  /** Counts what the embedding model takes; nobody does without it. */
  readonly meter?: ModelMeter;
}

export interface RecallOptions {
  /** The most facts, 1 to 50; by default 5. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
  /** As in `RememberOptions`. */
  readonly meter?: ModelMeter;
}

export interface FactPage {
  /** The id of the last fact of the page before; the newest come first. */
  readonly before?: string;
  /** 1 to 200; by default 50. */
  readonly limit?: number;
}
