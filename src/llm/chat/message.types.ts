export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** An image: an https URL, or a base64 data URI of a PNG, JPEG, GIF or WebP. */
export interface ImagePart {
  readonly type: 'image';
  readonly url: string;
}

/** Audio: a base64 data URI of WAV or MP3. */
export interface AudioPart {
  readonly type: 'audio';
  readonly url: string;
}

/** A part of a user message. */
export type ContentPart = TextPart | ImagePart;

export interface SystemMessage {
  readonly role: 'system';
  readonly content: string;
}

export interface UserMessage {
  readonly role: 'user';
  readonly content: string | readonly ContentPart[];
}

/** A tool call as the model wrote it: `arguments` is the raw text, neither parsed nor validated. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/**
 * State of the provider that later requests return unchanged: signed reasoning beside tool calls, and the fields of a
 * gateway. It is sent only to the model that wrote it.
 */
export interface SignedReasoning {
  /** As in `LLM_PROVIDER`; `google` for the signatures of Gemini. */
  readonly provider: string;
  /** The requested model: a signature is valid for one model only. */
  readonly model: string;
  readonly blocks: readonly {
    /** Unchanged value of the provider. */
    readonly value: Readonly<Record<string, unknown>>;
    /** Length of the content before it, in UTF-16 units. */
    readonly text: number;
    /** Number of calls before it. */
    readonly calls: number;
  }[];
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string;
  /** Reasoning before the answer. */
  readonly reasoning?: string;
  readonly signedReasoning?: SignedReasoning;
  readonly toolCalls?: readonly ToolCall[];
}

/** The only result of the call `toolCallId`. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly toolCallId: string;
  readonly name: string;
  readonly content: string;
  /** Images of the tool's result. */
  readonly images?: readonly ImagePart[];
  /** Audio of the tool's result. The content also refers to it, for models without audio input. */
  readonly audio?: readonly AudioPart[];
}

export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;
