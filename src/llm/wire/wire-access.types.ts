import type { ModelCapabilities } from '../chat.types.js';

/** How a model over HTTP is reached. */
export interface WireAccess {
  readonly provider: string;
  readonly model: string;
  /** Its path without a slash at its end. It may have a query, which stays behind the path of an endpoint. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** The environment variable that holds the key, for messages. */
  readonly keyVariable?: string;
  /** The longest silence until the reply begins, in ms. */
  readonly timeoutMs: number;
  /** The longest silence between two pieces of it, in ms; as long when left out. */
  readonly idleMs?: number;
  /** The longest time of a call in all, in ms. */
  readonly totalMs?: number;
}

/** Such a model, and what it can do. */
export interface WireSettings extends WireAccess {
  readonly capabilities: ModelCapabilities;
}
