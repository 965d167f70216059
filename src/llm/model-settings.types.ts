import type { ModelCapabilities, ModelParameters } from './chat/chat.types.js';

/** Settings of a model; absent values have the provider's defaults. */
export interface ModelSettings {
  /** A provider's name in the registry, as in `LLM_PROVIDER`. */
  readonly provider: string;
  readonly model?: string;
  readonly apiKey?: string;
  /** Base URL of the provider's API, `…/v1` for most. */
  readonly baseUrl?: string;
  /** Further headers of requests, by lower-case names; they override the provider's own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Version of the API, for providers with several (Azure: `v1`, or a date). */
  readonly apiVersion?: string;
  /**
   * API of a provider with OpenAI's formats: by default `auto`, Responses for openai and Chat Completions for others;
   * `responses` also for azure and openai-compatible. An address without the Responses API gets Chat Completions.
   */
  readonly openAiApi?: 'auto' | 'responses' | 'chat';
  /** Maximum time until the reply starts, in ms. */
  readonly timeoutMs: number;
  /** Maximum time between two chunks of the reply, in ms; `timeoutMs` by default. */
  readonly idleMs?: number;
  /** Maximum time of the whole call, in ms; unlimited by default. */
  readonly totalMs?: number;
  /** Minimum time between two parts of a streamed reply, in ms; 0 by default. */
  readonly intervalMs?: number;
  /** Capabilities that override the provider's table. */
  readonly capabilities?: Partial<ModelCapabilities>;
  /** Defaults for every call; parameters of a request override them. */
  readonly parameters?: ModelParameters;
}
