import type { ModelPatterns } from './models/model-facts.js';
import type { ModelFactories } from './model-factories.registry.js';
import type { HttpOptions } from './wire/wire.client.js';
import { ModelRegistry } from './model.registry.js';
import { AnthropicFactory } from './providers/anthropic/anthropic.factory.js';
import { AzureFactory } from './providers/azure/azure.factory.js';
import { DeepSeekFactory } from './providers/deepseek/deepseek.factory.js';
import { GlmFactory } from './providers/glm/glm.factory.js';
import { OfflineFactory } from './providers/offline/offline.factory.js';
import { OllamaFactory } from './providers/ollama/ollama.factory.js';
import { OpenAiCompatibleFactory } from './providers/openai-compatible/openai-compatible.factory.js';
import { OpenAiFactory } from './providers/openai/openai.factory.js';

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
