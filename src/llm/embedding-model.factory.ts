import type { LlmConfig } from '../config/namespaces/index.js';
import type { Cassette } from './cassette/cassette.js';
import type { EmbeddingModel } from './embedding-model.js';
import type { ModelStackFactory } from './wrappers/model-stack.factory.js';

/**
 * Maximum silence of the provider, in ms, even if chats have a longer limit. No retry starts later than this after the
 * first attempt: callers wait for embeddings that are optional to them.
 */
const MAX_WAIT_MS = 10_000;

/** The configured embedding model, or `null`. @throws AppError `CONFIG_INVALID` if the provider has no embeddings */
export function createEmbeddingModel(
  stack: ModelStackFactory,
  llm: LlmConfig,
  cassette: Cassette | null = null,
): EmbeddingModel | null {
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
    cassette,
  );
}
