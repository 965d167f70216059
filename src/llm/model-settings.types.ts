import type { ModelCapabilities, ModelParameters } from './chat.types.js';

/** What is needed to make a chat model; what is left out is the provider's default. */
export interface ModelSettings {
  /** A name the registry knows, as in `LLM_PROVIDER`. */
  readonly provider: string;
  readonly model?: string;
  readonly apiKey?: string;
  /** Where the provider's API begins, `…/v1` for most. */
  readonly baseUrl?: string;
  /** The version of the API, where it has several (Azure: `v1`, or a date). */
  readonly apiVersion?: string;
  /** The longest silence until the reply begins, in ms. */
  readonly timeoutMs: number;
  /** The longest silence between two pieces of it, in ms; as long when left out. */
  readonly idleMs?: number;
  /** The longest time of a call in all, in ms; without it there is no limit. */
  readonly totalMs?: number;
  /** What the model can do, where somebody knows better than its provider's folder. */
  readonly capabilities?: Partial<ModelCapabilities>;
  /** For every call; a request's own parameters win. */
  readonly parameters?: ModelParameters;
}
