import type { Usage } from '../chat.types.js';

type Counts = Readonly<Record<string, unknown>>;

/** Reads what a provider counted; nothing when it counted nothing. */
export function toUsage(wire: unknown): Usage | undefined {
  const counts = toCounts(wire);
  const promptTokens = count(counts['prompt_tokens']);
  const completionTokens = count(counts['completion_tokens']);
  if (promptTokens === undefined && completionTokens === undefined) return undefined;
  const sum = (promptTokens ?? 0) + (completionTokens ?? 0);
  const cachedTokens = cachedOf(counts);
  const reasoningTokens = count(toCounts(counts['completion_tokens_details'])['reasoning_tokens']);
  return {
    promptTokens: promptTokens ?? 0,
    completionTokens: completionTokens ?? 0,
    totalTokens: count(counts['total_tokens']) ?? sum,
    ...(cachedTokens !== undefined && { cachedTokens: Math.min(cachedTokens, promptTokens ?? 0) }),
    ...(reasoningTokens !== undefined && { reasoningTokens: Math.min(reasoningTokens, completionTokens ?? 0) }),
  };
}

/** As OpenAI says it, or as DeepSeek does. */
function cachedOf(counts: Counts): number | undefined {
  return count(toCounts(counts['prompt_tokens_details'])['cached_tokens']) ?? count(counts['prompt_cache_hit_tokens']);
}

function toCounts(value: unknown): Counts {
  return typeof value === 'object' && value !== null ? (value as Counts) : {};
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
