import type { AppConfig } from '../config/index.js';
import type { EmbeddingModel } from './embedding-model.js';
import type { ModelStackFactory } from './wrappers/model-stack.factory.js';

/**
 * Somebody waits for the answer that it is only a help to: the longest silence, in ms, whatever a chat may take. Later than this
 * after the first attempt it is not asked again.
 */
const MAX_WAIT_MS = 10_000;

/** The embedding model that is configured, if one is. Throws `CONFIG_INVALID` when the provider has none. */
export function createEmbeddingModel(stack: ModelStackFactory, { llm }: AppConfig): EmbeddingModel | null {
  if (llm.embeddingModel === undefined) return null;
  const { idleTimeoutMs, totalTimeoutMs } = llm.resilience;
  return stack.createEmbedding(
    {
      provider: llm.provider,
      model: llm.embeddingModel,
      timeoutMs: Math.min(llm.timeoutMs, MAX_WAIT_MS),
      ...(idleTimeoutMs !== undefined && { idleMs: Math.min(idleTimeoutMs, MAX_WAIT_MS) }),
      ...(totalTimeoutMs > 0 && { totalMs: totalTimeoutMs }),
      ...llm.access[llm.provider],
    },
    MAX_WAIT_MS,
  );
}
