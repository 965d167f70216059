/** The part of the session's history that a run received; wire form. */
export interface MemoryState {
  /** Messages of the session before this run. */
  readonly message_count: number;
  /** Tokens of those that the model was given, a summary included. */
  readonly context_tokens: number;
  /** Messages that it was not given. */
  readonly dropped: number;
  /** The name of the agent's memory policy; `none` when it has no memory. */
  readonly policy: string;
  /** The token budget of the run, as it was resolved; left out without memory, and in runs of older versions. */
  readonly max_context_tokens?: number;
  /** Turns that the model was given shortened, oldest first. */
  readonly shortened?: ShortenedTurnState[];
  /** For each turn in the request's `references`, the part that the model received. */
  readonly references?: ReferenceState[];
}

/** A turn of which a model was not given everything; wire form. */
export interface ShortenedTurnState {
  readonly turn: number;
  /** `shortened`: texts were cut or rounds of calls left out. `question_and_answer`: everything between the two was left out. */
  readonly form: 'shortened' | 'question_and_answer';
  /** Messages of the turn that were left out. */
  readonly dropped_messages: number;
  /** UTF-16 units that were cut out of the other messages. */
  readonly omitted_characters: number;
}

/** The part of a referenced turn that a model received; wire form. */
export interface ReferenceState {
  readonly turn: number;
  /** `summarised`: only a summary covers it. */
  readonly seen: 'whole' | 'shortened' | 'summarised' | 'dropped';
}
