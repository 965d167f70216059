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

/** The conversation for which an application opens a memory. */
export interface MemoryConversation {
  readonly sessionId: string;
  readonly tenant: string;
  /** Id of the principal whose run requests the context. */
  readonly userId: string;
  /** Name of the memory, which the agent's `memory.policy` selects. */
  readonly name: string;
}

/** The methods of a memory that runs use. */
export type RunMemory = Pick<Memory, 'addMessage' | 'getContext'>;

/** A memory of an application. */
export interface OwnMemory {
  /**
   * Opens the memory of a conversation, empty. Jackdaw adds all messages of the session in their order, once in each
   * process, and requests a context before each run.
   */
  readonly open: (conversation: MemoryConversation) => RunMemory | Promise<RunMemory>;
  /**
   * Whether its contexts contain content of the session only, selected or summarised. By default a run counts their content
   * as untrusted and private.
   */
  readonly isOfSession?: boolean;
}

/** Memories of an application by name. */
export type OwnMemories = Readonly<Record<string, OwnMemory>>;

/** Token of the application's memories. */
export const OWN_MEMORIES = Symbol('OWN_MEMORIES');
