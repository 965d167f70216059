import type { Fact, FactOwner, FactPage, RecalledFact, RecallOptions, RememberOptions } from './fact.types.js';

/** The port to what users' agents keep in mind beyond a session. Every verb is bound to one owner. */
export abstract class FactMemory {
  /**
   * Keeps a text; it is durable when this resolves. One that the owner has already is not kept twice.
   * @throws AppError `VALIDATION_FAILED` for a blank or too long text
   */
  abstract remember(owner: FactOwner, text: string, options?: RememberOptions): Promise<Fact>;

  /**
   * The owner's facts that fit the query best, best first; none is no error, nor is any text as a query but a blank one.
   * @throws AppError `VALIDATION_FAILED` for a blank query
   */
  abstract recall(owner: FactOwner, query: string, options?: RecallOptions): Promise<RecalledFact[]>;

  /** Whether there was such a fact; there is none now. */
  abstract forget(owner: FactOwner, id: string): Promise<boolean>;

  /** Page by page, the newest first. */
  abstract list(owner: FactOwner, page?: FactPage): Promise<Fact[]>;

  /** Forgets all that was remembered for a user. */
  abstract eraseUser(tenant: string, user: string): Promise<void>;
}
