import type { Memory } from './memory.js';

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
