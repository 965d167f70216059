import type { ReportedUsage } from '../usage.policy.js';

type Counts = Readonly<Record<string, unknown>>;

/** The token counts of a reply in OpenAI's form; `checkUsage` decides which of them apply. */
export function toReportedUsage(wire: unknown): ReportedUsage {
  const counts = toCounts(wire);
  return {
    promptTokens: counts['prompt_tokens'],
    completionTokens: counts['completion_tokens'],
    totalTokens: counts['total_tokens'],
    cachedTokens: cachedOf(counts),
    reasoningTokens: toCounts(counts['completion_tokens_details'])['reasoning_tokens'],
  };
}

/** OpenAI's field, or DeepSeek's. */
function cachedOf(counts: Counts): unknown {
  return toCounts(counts['prompt_tokens_details'])['cached_tokens'] ?? counts['prompt_cache_hit_tokens'];
}

function toCounts(value: unknown): Counts {
  return typeof value === 'object' && value !== null ? (value as Counts) : {};
}
