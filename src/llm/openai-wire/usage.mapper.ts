import type { Usage } from '../chat.types.js';

/** Reads what a provider counted; nothing when it counted nothing. */
export function toUsage(wire: unknown): Usage | undefined {
  if (typeof wire !== 'object' || wire === null) return undefined;
  const counts = wire as Readonly<Record<string, unknown>>;
  const promptTokens = count(counts['prompt_tokens']);
  const completionTokens = count(counts['completion_tokens']);
  if (promptTokens === undefined && completionTokens === undefined) return undefined;
  const sum = (promptTokens ?? 0) + (completionTokens ?? 0);
  return {
    promptTokens: promptTokens ?? 0,
    completionTokens: completionTokens ?? 0,
    totalTokens: count(counts['total_tokens']) ?? sum,
  };
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
