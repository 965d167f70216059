/**
 * Public types of the protocol (2026-07-28). They are our own, because the SDK infers its types from schemas, which
 * costs time at every compilation of an importing program.
 */
import type { JsonSchema } from '../kernel/json/index.js';

type Fields = Readonly<Record<string, unknown>>;

interface Annotated {
  readonly annotations?: {
    readonly audience?: ('user' | 'assistant')[];
    /** 0 to 1. */
    readonly priority?: number;
    /** ISO 8601. */
    readonly lastModified?: string;
  };
  readonly _meta?: Record<string, unknown>;
}

/** A text, image, audio or resource block. Data are base64. */
export type McpContentBlock = Annotated &
  (
    | { readonly type: 'text'; readonly text: string }
    | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
    | {
        readonly type: 'resource_link';
        readonly uri: string;
        readonly name: string;
        readonly title?: string;
        readonly description?: string;
        readonly mimeType?: string;
        /** In bytes. */
        readonly size?: number;
      }
    | {
        readonly type: 'resource';
        readonly resource: { readonly uri: string; readonly mimeType?: string } & (
          { readonly text: string } | { readonly blob: string }
        );
      }
  );

export interface McpPromptMessage {
  readonly role: 'user' | 'assistant';
  readonly content: McpContentBlock;
}

/** As of RFC 5424. */
export type McpLogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/** Requests that a client supports. */
export interface McpClientCapabilities {
  readonly elicitation?: { readonly form?: Fields; readonly url?: Fields };
  readonly sampling?: { readonly context?: Fields; readonly tools?: Fields };
  readonly roots?: { readonly listChanged?: boolean };
  readonly extensions?: Readonly<Record<string, Fields>>;
  readonly experimental?: Readonly<Record<string, Fields>>;
}

/**
 * A request to a client: for input of its user (`elicitation/create`), for a reply of its model, or for its folders.
 */
export type McpRequest =
  | { readonly method: 'elicitation/create'; readonly params: McpFormQuestion | McpUrlQuestion }
  | { readonly method: 'sampling/createMessage'; readonly params: McpSampling }
  | { readonly method: 'roots/list'; readonly params?: Fields };
/** Requests by keys of the caller's choice. */
export type McpRequests = Readonly<Record<string, McpRequest>>;

interface McpFormQuestion {
  readonly mode?: 'form';
  readonly message: string;
  /** Flat: each property is a string, a number, a boolean or an enumeration. */
  readonly requestedSchema: {
    readonly type: 'object';
    readonly properties: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
}

interface McpUrlQuestion {
  readonly mode: 'url';
  readonly message: string;
  readonly url: string;
  readonly elicitationId?: string;
}

interface McpSampling {
  readonly messages: readonly {
    readonly role: 'user' | 'assistant';
    readonly content: McpContentBlock | readonly McpContentBlock[];
  }[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly modelPreferences?: Fields;
  readonly includeContext?: 'none' | 'thisServer' | 'allServers';
  readonly metadata?: Fields;
  readonly tools?: readonly Fields[];
  readonly toolChoice?: Fields;
}
