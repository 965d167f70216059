import type { ModelCapabilities } from '../chat/chat.types.js';
import type { AdaptationRegistry } from './adaptation.registry.js';

/** URL, key and time limits of a model over HTTP. */
export interface WireAccess {
  readonly provider: string;
  readonly model: string;
  /** Its path has no trailing slash. It may have a query, which stays after an endpoint's path. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** Further headers of every request; they override those of the route. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The environment variable of the key, for messages. */
  readonly keyVariable?: string;
  /** Maximum time until the reply starts, in ms. */
  readonly timeoutMs: number;
  /** Maximum time between two chunks of the reply, in ms; `timeoutMs` by default. */
  readonly idleMs?: number;
  /** Maximum time of the whole call, in ms; unlimited by default. */
  readonly totalMs?: number;
  /** Minimum time between two parts of a streamed reply, in ms; 0 by default. */
  readonly intervalMs?: number;
}

/** A model over HTTP with its capabilities. */
export interface WireSettings extends WireAccess {
  readonly capabilities: ModelCapabilities;
  /** Changes of requests that all models of the process share. */
  readonly adaptations: AdaptationRegistry;
  /** The API, for a model that has several: each has changes of its own. */
  readonly api?: 'responses';
}
