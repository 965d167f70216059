import type { Usage } from '../chat.types.js';

type Counts = Readonly<Record<string, unknown>>;

/** Reads what a provider counted; nothing when it counted nothing. */
export function toUsage(wire: unknown): Usage | undefined {
  const counts = toCounts(wire);
  const [prompt, completion] = [count(counts['prompt_tokens']), count(counts['completion_tokens'])];
  if (prompt === undefined && completion === undefined) return undefined;
  const [promptTokens, completionTokens] = [prompt ?? 0, completion ?? 0];
  const totalTokens = count(counts['total_tokens']) ?? promptTokens + completionTokens;
  const reasoning = count(toCounts(counts['completion_tokens_details'])['reasoning_tokens']);
  return {
    promptTokens,
    completionTokens,
    totalTokens,
    ...part('cachedTokens', cachedOf(counts), promptTokens),
    ...part('reasoningTokens', reasoning, completionTokens),
  };
}

/** What is known of a part, which is never more than the whole. */
function part(name: 'cachedTokens' | 'reasoningTokens', tokens: number | undefined, whole: number): Partial<Usage> {
  return tokens === undefined ? {} : { [name]: Math.min(tokens, whole) };
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
