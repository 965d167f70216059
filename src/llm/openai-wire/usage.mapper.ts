import type { ReportedUsage } from '../usage.policy.js';

type Counts = Readonly<Record<string, unknown>>;

/** The token counts of a reply in OpenAI's format; `checkUsage` validates them. */
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

/** The field of OpenAI or of DeepSeek. */
function cachedOf(counts: Counts): unknown {
  return toCounts(counts['prompt_tokens_details'])['cached_tokens'] ?? counts['prompt_cache_hit_tokens'];
}

function toCounts(value: unknown): Counts {
  return typeof value === 'object' && value !== null ? (value as Counts) : {};
}
