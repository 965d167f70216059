import type { IncomingHttpHeaders } from 'node:http';

/** A tool call in a scripted reply; `arguments` as an object is written as JSON, as text it goes out as it is. */
export interface FakeCall {
  readonly name?: string;
  readonly arguments?: Readonly<Record<string, unknown>> | string;
  readonly id?: string;
}

/** How an exchange goes wrong, whatever the reply would have been. */
export interface FakeFaults {
  /** Nothing is sent before this settles. */
  readonly gate?: Promise<unknown>;
  /** After so many chunks it falls silent, the connection open; what is not streamed, after half of it. */
  readonly stallAfter?: number;
  /** After so many chunks the stream ends as if all were said; what is not streamed, after half of it. */
  readonly cutAfter?: number;
  /** After so many chunks the connection is reset; what is not streamed, after half of it. */
  readonly resetAfter?: number;
  /** Streamed only: so long between two chunks, in ms. */
  readonly drip?: number;
}

/** What the model says. Streamed word by word when the request asks for it. */
export interface FakeMessage extends FakeFaults {
  readonly text?: string;
  readonly reasoning?: string;
  readonly refusal?: string;
  readonly calls?: readonly FakeCall[];
  /** Without it `tool_calls` where there are calls, else `stop`; null leaves it out. */
  readonly finishReason?: string | null;
  /** `[prompt, completion]` in tokens; null for none. */
  readonly usage?: readonly [number, number] | null;
  readonly model?: string;
}

export type FakeReply =
  | FakeMessage
  /** Any status and body; an object goes out as JSON, a text as HTML unless the headers say otherwise. */
  | (FakeFaults & {
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    })
  /** The exact events of a stream, whatever was asked for. */
  | (FakeFaults & { readonly events: readonly unknown[] })
  /** Never answers. */
  | (FakeFaults & { readonly hang: true })
  /** Resets the connection without an answer. */
  | (FakeFaults & { readonly reset: true });

export interface FakeRequestMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly { id: string; type: string; function: { name: string; arguments: string } }[];
}

/** The body of a chat completion request, as it came. */
export interface FakeRequest {
  readonly model: string;
  readonly messages: readonly FakeRequestMessage[];
  readonly tools?: readonly { type: string; function: { name: string; description: string; parameters: unknown } }[];
  readonly stream?: boolean;
  readonly stream_options?: unknown;
  readonly [field: string]: unknown;
}

export type FakeScript = FakeReply | ((request: FakeRequest) => FakeReply | Promise<FakeReply>);

/** The request beside its body. */
export interface FakeEnvelope {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}
