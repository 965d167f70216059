import type { ModelCapabilities } from '../chat.types.js';
import type { ParameterLimits } from '../parameter.policy.js';

/** How a model over HTTP is reached. */
export interface WireAccess {
  readonly provider: string;
  readonly model: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** The environment variable that holds the key, for messages. */
  readonly keyVariable?: string;
  /** The longest silence, in ms. */
  readonly timeoutMs: number;
}

/** Such a model, what it can do, and what it does not take. */
export interface WireSettings extends WireAccess {
  readonly capabilities: ModelCapabilities;
  readonly limits: ParameterLimits;
}
