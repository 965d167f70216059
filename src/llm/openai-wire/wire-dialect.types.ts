import type { ModelCapabilities } from '../chat.types.js';

/** Where a provider differs from the others that speak OpenAI's wire. */
export interface WireDialect {
  /** Which field limits the reply's length; OpenAI's newer models refuse the old name. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /**
   * Whether earlier messages carry their `reasoning_content`: never, where there is one, or also (empty) with every
   * tool call.
   */
  readonly reasoningEcho: 'never' | 'present' | 'with_calls';
  /** Further fields of the request's body. */
  readonly extras?: (model: string, hasTools: boolean) => Readonly<Record<string, unknown>>;
}

/** How a model over this wire is reached. */
export interface WireAccess {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** The environment variable that holds the key, for messages. */
  readonly keyVariable?: string;
  /** The longest silence, in ms. */
  readonly timeoutMs: number;
}

/** Everything a chat model over this wire needs to know. */
export interface WireSettings extends WireAccess {
  readonly capabilities: ModelCapabilities;
  readonly dialect: WireDialect;
}
