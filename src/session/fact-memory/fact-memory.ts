import type { Fact, FactOwner, FactPage, RecalledFact, RecallOptions, RememberOptions } from './fact.types.js';

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
