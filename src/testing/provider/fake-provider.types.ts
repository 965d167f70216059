import type { IncomingHttpHeaders } from 'node:http';

/** A tool call in a scripted reply; `arguments` as an object is sent as JSON, as text it is sent unchanged. */
export interface FakeCall {
  readonly name?: string;
  readonly arguments?: Readonly<Record<string, unknown>> | string;
  readonly id?: string;
  /** Gemini's thought signature. */
  readonly signature?: string;
}

/** Faults of an exchange, independent of the reply. */
export interface FakeFaults {
  /** The reply is sent only after this settles. */
  readonly gate?: Promise<unknown>;
  /** Sends nothing after this number of chunks, with the connection open; without streaming, after half of the body. */
  readonly stallAfter?: number;
  /** Ends the stream early but regularly after this number of chunks; without streaming, after half of the body. */
  readonly cutAfter?: number;
  /** Resets the connection after this number of chunks; without streaming, after half of the body. */
  readonly resetAfter?: number;
  /** Streamed only: interval between two chunks, in ms. */
  readonly drip?: number;
}

/** A model message, streamed word by word when the request asks for a stream. */
export interface FakeMessage extends FakeFaults {
  readonly text?: string;
  readonly reasoning?: string;
  readonly refusal?: string;
  readonly calls?: readonly FakeCall[];
  /** Default `tool_calls` with calls, else `stop`; null omits it. */
  readonly finishReason?: string | null;
  /** `[prompt, completion]` in tokens; null for none. */
  readonly usage?: readonly [number, number] | null;
  readonly model?: string;
}

export type FakeReply =
  | FakeMessage
  /** Any status and body; an object is sent as JSON, a text as HTML unless the headers say otherwise. */
  | (FakeFaults & {
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    })
  /** The exact bytes of a body or stream with status 200; every chunk arrives separately. */
  | (FakeFaults & { readonly chunks: readonly Uint8Array[]; readonly type: string })
  /** The exact events of a stream, independent of the request. */
  | (FakeFaults & { readonly events: readonly unknown[] })
  /** Never answers. */
  | (FakeFaults & { readonly hang: true })
  /** Resets the connection without an answer. */
  | (FakeFaults & { readonly reset: true });

export interface FakeRequestMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
  readonly name?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly { id: string; type: string; function: { name: string; arguments: string } }[];
}

/** The body of a chat completion request as received; that of another API of OpenAI in the same form. */
export interface FakeRequest {
  readonly model: string;
  readonly messages: readonly FakeRequestMessage[];
  readonly tools?: readonly { type: string; function: { name: string; description: string; parameters: unknown } }[];
  readonly stream?: boolean;
  readonly stream_options?: unknown;
  readonly [field: string]: unknown;
}

export type FakeScript = FakeReply | ((request: FakeRequest) => FakeReply | Promise<FakeReply>);

/** Path, headers and body of a request. */
export interface FakeEnvelope {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** As received, in the form of its API. */
  readonly body: Readonly<Record<string, unknown>>;
}
