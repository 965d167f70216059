import { type EnvRecord, type ModelChoice, type ProviderAccess, providerEnv } from '../config/index.js';
import type { LlmConfig } from '../config/namespaces/index.js';
import type { ModelFactory } from './model-factory.js';
import type { ModelSettings } from './model-settings.types.js';
import { ModelRegistry } from './model.registry.js';
import type { ModelPatterns } from './models/model-facts.js';
import { AnthropicFactory } from './providers/anthropic/anthropic.factory.js';
import { AzureFactory } from './providers/azure/azure.factory.js';
import { DeepSeekFactory } from './providers/deepseek/deepseek.factory.js';
import { GlmFactory } from './providers/glm/glm.factory.js';
import { OfflineFactory } from './providers/offline/offline.factory.js';
import { OllamaFactory } from './providers/ollama/ollama.factory.js';
import { OpenAiCompatibleFactory } from './providers/openai-compatible/openai-compatible.factory.js';
import { OpenAiFactory } from './providers/openai/openai.factory.js';
import type { HttpOptions } from './wire/wire.client.js';

/** Custom providers of an application. */
export class ModelFactories {
  constructor(readonly factories: readonly ModelFactory[]) {}
}

/** Creates a registry of the built-in providers and an application's own. The caller closes it. */
export function createModelRegistry(
  options?: HttpOptions,
  own?: ModelFactories,
  models?: ModelPatterns,
): ModelRegistry {
  const registry = new ModelRegistry(options, models);
  registry.register(new OpenAiFactory());
  registry.register(new AnthropicFactory());
  registry.register(new AzureFactory());
  registry.register(new DeepSeekFactory());
  registry.register(new GlmFactory());
  registry.register(new OllamaFactory());
  registry.register(new OpenAiCompatibleFactory());
  registry.register(new OfflineFactory());
  for (const factory of own?.factories ?? []) registry.register(factory);
  return registry;
}

/** The settings of a model with the configured access data and time limits. */
export function configuredSettings(llm: LlmConfig, { provider, model }: ModelChoice): ModelSettings {
  // Providers of the application are not in this table and manage their own keys.
  const access: Partial<Record<string, ProviderAccess>> = llm.access;
  const { idleTimeoutMs, totalTimeoutMs, streamIntervalMs } = llm.resilience;
  return {
    provider,
    timeoutMs: llm.timeoutMs,
    ...(idleTimeoutMs !== undefined && { idleMs: idleTimeoutMs }),
    ...(totalTimeoutMs > 0 && { totalMs: totalTimeoutMs }),
    ...(streamIntervalMs > 0 && { intervalMs: streamIntervalMs }),
    ...(model !== undefined && { model }),
    ...(llm.openAiApi !== 'auto' && { openAiApi: llm.openAiApi }),
    ...access[provider],
  };
}

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
