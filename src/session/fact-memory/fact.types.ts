import type { DataFact, ModelMeter } from '../../run/index.js';

/** The owner of facts; a call sees no facts of other owners. */
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
  /** Time of the last call that remembered the same text, epoch ms. */
  readonly updatedAt: number;
  /** Facts of the data in the run that remembered it; a memory that does not store them counts as untrusted. */
  readonly dataFacts?: readonly DataFact[];
}

export interface RecalledFact extends Fact {
  /** Higher is better; comparable only within one answer. */
  readonly score: number;
}

export interface RememberOptions {
  /** Idempotency key of the owner: a repeated call with the same key keeps the first text. */
  readonly key?: string;
  /** Facts of the data in the run; a later run that recalls the text counts as having read them. */
  readonly dataFacts?: readonly DataFact[];
  /** Aborts the wait for the embedding; the fact is already stored. */
  readonly signal?: AbortSignal;
  /** Counts the usage of the embedding model; not counted by default. */
  readonly meter?: ModelMeter;
}

export interface RecallOptions {
  /** Maximum facts, 1 to 50; by default 5. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
  /** As in `RememberOptions`. */
  readonly meter?: ModelMeter;
}

export interface FactPage {
  /** The id of the last fact of the previous page; facts are listed newest first. */
  readonly before?: string;
  /** 1 to 200; by default 50. */
  readonly limit?: number;
}
