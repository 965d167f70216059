import { type EnvRecord, providerEnv } from '../config/index.js';

/** A provider and its credentials. */
export interface LlmOptions {
  /** As in `LLM_PROVIDER`: `openai`, `anthropic`, `ollama`, … */
  readonly apiType: string;
  /** By default the environment's key. */
  readonly apiKey?: string | undefined;
  /** By default the provider's default model. */
  readonly model?: string;
  /** Base URL of the API; by default the provider's own. */
  readonly apiUrl?: string;
  /** Further headers of requests, such as those of a gateway. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The variables of a provider and its credentials.
 * @param text validates a required text of an untyped caller and returns it
 */
export function toLlmEnv(
  { apiType, apiKey, model, apiUrl, headers }: LlmOptions,
  text: (value: unknown, field: string) => string,
): EnvRecord {
  return providerEnv(text(apiType, 'llm.apiType'), {
    ...(apiKey !== undefined && { apiKey: text(apiKey, 'llm.apiKey') }),
    ...(model !== undefined && { model: text(model, 'llm.model') }),
    ...(apiUrl !== undefined && { baseUrl: text(apiUrl, 'llm.apiUrl') }),
    ...(headers !== undefined && { headers }),
  });
}
