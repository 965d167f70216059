import type { DataFact } from '../../run/facts/index.js';
import type { ModelMeter } from '../../run/usage/index.js';

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

/** The port to users' long-term memory across sessions. Every method is bound to one owner. */
export abstract class FactMemory {
  /**
   * Stores a text; it is durable when this resolves. A text that the owner already has is stored only once.
   * @throws AppError `VALIDATION_FAILED` for a blank or too long text
   */
  abstract remember(owner: FactOwner, text: string, options?: RememberOptions): Promise<Fact>;

  /**
   * The owner's best matches for the query, best first; may be empty.
   * @throws AppError `VALIDATION_FAILED` for a blank query
   */
  abstract recall(owner: FactOwner, query: string, options?: RecallOptions): Promise<RecalledFact[]>;

  /** Deletes a fact. @returns whether it existed */
  abstract forget(owner: FactOwner, id: string): Promise<boolean>;

  /** One page, newest first. */
  abstract list(owner: FactOwner, page?: FactPage): Promise<Fact[]>;

  /** Deletes all facts of a user. */
  abstract eraseUser(tenant: string, user: string): Promise<void>;
}

/** Limits of facts and of the search for them. */
export const FACT_LIMITS = {
  /** Characters of one fact. */
  textCharacters: 4000,
  queryCharacters: 1000,
  /** Different search terms of a query. */
  queryTerms: 64,
  /** Facts that the full-text search returns for ranking. */
  candidates: 200,
  /** An owner's newest facts with a vector, compared with a query in this process. */
  vectors: 2000,
  /** Facts nearest to a query, for ranking. */
  nearest: 50,
  /** Facts whose missing vectors are computed in one call. */
  filledIn: 16,
  /** Facts of one answer. */
  recalled: 50,
  /** Facts of one page. */
  listed: 200,
} as const;
