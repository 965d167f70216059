import type { SessionMessage } from '../session.types.js';

/**
 * The port to an in-memory conversation, for programs that call a model themselves. It groups messages in turns, and
 * can be persisted to and restored from a session. Runs store their sessions themselves and do not need it.
 */
export abstract class Memory {
  /**
   * Appends a message. A `user` message starts a new turn.
   * @throws AppError `VALIDATION_FAILED` for a value that is no message, or a result without a call
   */
  abstract addMessage(message: SessionMessage): Promise<void>;
  /** The newest `limit` messages, oldest first, unchanged; by default all messages in memory. */
  abstract getMessages(limit?: number): Promise<SessionMessage[]>;
  /** Clears the messages in memory; a persisted session remains. */
  abstract clear(): Promise<void>;
  /**
   * The context for a model; valid for every provider. Turns may be shortened or omitted.
   * @param maxTokens limit of tokens; by default that of the memory
   * @param question the next question, which is not part of the context; a memory may search with it
   */
  abstract getContext(maxTokens?: number, question?: SessionMessage): Promise<SessionMessage[]>;
  /**
   * Persists the conversation as the session: appends the messages added since it was restored or persisted, else
   * creates it.
   * @throws AppError `VALIDATION_FAILED` while a call has no result
   * @throws AppError `SESSION_EXISTS` for the session of another conversation
   * @throws AppError `SESSION_NOT_FOUND` if it was deleted meanwhile
   * @throws AppError `SESSION_BUSY` while a run of it has not ended, or if it has new turns
   */
  abstract persist(sessionId: string): Promise<void>;
  /** Loads the newest part of a session and drops the previous messages. @throws AppError `SESSION_NOT_FOUND` */
  abstract restore(sessionId: string): Promise<void>;
}
