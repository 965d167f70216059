import type { Usage } from '../llm/index.js';
import type { RunUsage } from './run-event.types.js';

/** What a model call took, in its wire form. */
export function toRunUsage({
  promptTokens,
  completionTokens,
  totalTokens,
  cachedTokens,
  reasoningTokens,
}: Usage): RunUsage {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: totalTokens,
    ...(cachedTokens !== undefined && { cached_tokens: cachedTokens }),
    ...(reasoningTokens !== undefined && { reasoning_tokens: reasoningTokens }),
  };
}

/** The other way round. */
export function toUsage(usage: RunUsage): Usage {
  return {
    promptTokens: usage.prompt_tokens,
    completionTokens: usage.completion_tokens,
    totalTokens: usage.total_tokens,
    ...(usage.cached_tokens !== undefined && { cachedTokens: usage.cached_tokens }),
    ...(usage.reasoning_tokens !== undefined && { reasoningTokens: usage.reasoning_tokens }),
  };
}

/** What both took. What neither says of itself is not in it. */
export function addUsage(sum: RunUsage, more: RunUsage): RunUsage {
  const cached = both(sum.cached_tokens, more.cached_tokens);
  const reasoning = both(sum.reasoning_tokens, more.reasoning_tokens);
  return {
    prompt_tokens: sum.prompt_tokens + more.prompt_tokens,
    completion_tokens: sum.completion_tokens + more.completion_tokens,
    total_tokens: sum.total_tokens + more.total_tokens,
    ...(cached !== undefined && { cached_tokens: cached }),
    ...(reasoning !== undefined && { reasoning_tokens: reasoning }),
  };
}

function both(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
}
