import type { SessionMessage } from '../session.types.js';

/**
 * The port to a conversation in hand: what a program says to a model of its own, kept in turns, with a session to go to
 * and come from. Runs keep their sessions by themselves and need none of this.
 */
export abstract class Memory {
  /**
   * Adds what was said last. A `user` message begins a new turn.
   * @throws AppError `VALIDATION_FAILED` for a result without a call
   */
  abstract addMessage(message: SessionMessage): Promise<void>;
  /** The newest `limit` messages, oldest first, as they were said; all that are in hand when it is left out. */
  abstract getMessages(limit?: number): Promise<SessionMessage[]>;
  /** Forgets what is in hand; a session that it was persisted to stays. */
  abstract clear(): Promise<void>;
  /** What a model is to be given, within so many tokens: whole turns, valid by any provider's rules. */
  abstract getContext(maxTokens?: number): Promise<SessionMessage[]>;
  /**
   * Keeps what is in hand as the session: adds to it what is new since it was restored or persisted, else begins it.
   * @throws AppError `VALIDATION_FAILED` while a call has no result, `SESSION_EXISTS` for one that is another conversation's,
   *   `SESSION_NOT_FOUND` when it was deleted meanwhile, `SESSION_BUSY` when a run of it has not ended or it has gone on
   */
  abstract persist(sessionId: string): Promise<void>;
  /** Takes the newest part of a session in hand, and drops what was there. @throws AppError `SESSION_NOT_FOUND` */
  abstract restore(sessionId: string): Promise<void>;
}
