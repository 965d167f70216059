export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** A picture: an https URL, or a data URI of a PNG, JPEG, GIF or WebP in base64. */
export interface ImagePart {
  readonly type: 'image';
  readonly url: string;
}

/** A part of what a user says. */
export type ContentPart = TextPart | ImagePart;

export interface SystemMessage {
  readonly role: 'system';
  readonly content: string;
}

export interface UserMessage {
  readonly role: 'user';
  readonly content: string | readonly ContentPart[];
}

/** A tool call as the model wrote it: `arguments` is its raw text, not yet parsed nor checked. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Thoughts as their provider wants them back beside tool calls, exactly, or it refuses them; no other model sees it. */
export interface SignedReasoning {
  /** As in `LLM_PROVIDER`. */
  readonly provider: string;
  /** The model that was asked: a signature is of one model. */
  readonly model: string;
  readonly blocks: readonly {
    /** As the provider wrote it. */
    readonly value: Readonly<Record<string, unknown>>;
    /** How much of the content stood before it, in UTF-16 units. */
    readonly text: number;
    /** How many of the calls stood before it. */
    readonly calls: number;
  }[];
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string;
  /** What a reasoning model thought before it answered. */
  readonly reasoning?: string;
  readonly signedReasoning?: SignedReasoning;
  readonly toolCalls?: readonly ToolCall[];
}

/** The one result of the call `toolCallId`. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly toolCallId: string;
  readonly name: string;
  readonly content: string;
  /** What the tool shows beside its text. */
  readonly images?: readonly ImagePart[];
}

export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;
