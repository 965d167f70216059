import type { AppConfig } from '../config/index.js';
import type { EmbeddingModel } from './embedding-model.js';
import type { ModelRegistry } from './model.registry.js';

/** Somebody waits for the answer that it is only a help to: the longest silence, in ms, whatever a chat may take. */
const MAX_SILENCE_MS = 10_000;

/** The embedding model that is configured, if one is. Throws `CONFIG_INVALID` when the provider has none. */
export function createEmbeddingModel(registry: ModelRegistry, { llm }: AppConfig): EmbeddingModel | null {
  if (llm.embeddingModel === undefined) return null;
  return registry.createEmbedding({
    provider: llm.provider,
    model: llm.embeddingModel,
    timeoutMs: Math.min(llm.timeoutMs, MAX_SILENCE_MS),
    ...llm.access[llm.provider],
  });
}
