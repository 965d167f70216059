/** The part of the session's history that a run received; wire form. */
export interface MemoryState {
  /** Messages of the session before this run. */
  readonly message_count: number;
  /** Tokens of the messages given to the model, including a summary. */
  readonly context_tokens: number;
  /** Messages that the model did not receive. */
  readonly dropped: number;
  /** The name of the agent's memory policy; `none` without memory. */
  readonly policy: string;
  /** The resolved token budget of the run; absent without memory, and in runs of older versions. */
  readonly max_context_tokens?: number;
  /** Turns that the model received in shortened form, oldest first. */
  readonly shortened?: ShortenedTurnState[];
  /** The parts of a long run that its last requests left out. */
  readonly compacted?: CompactedState;
  /** For each turn in the request's `references`, the part that the model received. */
  readonly references?: ReferenceState[];
}

/** The parts of a run that its requests leave out; wire form. */
export interface CompactedState {
  /** Tool results with a note in their place; the model can read them with a tool. */
  readonly results: number;
  /** Messages with a summary in their place. */
  readonly messages: number;
}

/**
 * The requests of a long run leave out a part of it: notes replace tool results, a summary replaces messages. The run
 * itself and its session remain whole.
 */
export interface ContextCompacted extends CompactedState {
  readonly type: 'context.compacted';
  /** The iteration whose request was too long. */
  readonly iteration: number;
  /** Whether it exceeded a share of the model's context window, or the provider refused it. */
  readonly cause: 'window' | 'refused';
  /** Estimated tokens of the request before and after. */
  readonly tokens_before: number;
  readonly tokens_after: number;
}

/** A turn that the model received in part; wire form. */
export interface ShortenedTurnState {
  readonly turn: number;
  /**
   * `shortened`: texts were cut or rounds of calls left out. `question_and_answer`: only the question and the answer
   * remain.
   */
  readonly form: 'shortened' | 'question_and_answer';
  /** Messages of the turn that were left out. */
  readonly dropped_messages: number;
  /** UTF-16 units that were cut from the other messages. */
  readonly omitted_characters: number;
}

/** The part of a referenced turn that a model received; wire form. */
export interface ReferenceState {
  readonly turn: number;
  /** `summarised`: only a summary covers it. */
  readonly seen: 'whole' | 'shortened' | 'summarised' | 'dropped';
}
