import type { ChatResult } from '../../llm/index.js';
import { ATTRIBUTES as A, type Attributes } from '../../telemetry/index.js';
import { toRunUsage } from '../run-usage.mapper.js';
import type { RunUsage } from '../run-usage.types.js';

/** The result of a model step; lenient, as an earlier version may have recorded it. */
export type RecordedReply = Partial<ChatResult>;

/** The result of a tool step, as far as spans have it. */
export interface RecordedToolResult {
  readonly success?: boolean;
  readonly result?: unknown;
  readonly error?: string;
  readonly code?: string;
}

/** Tokens and cost of a call. Input tokens contain the cached ones, output tokens the reasoning. */
export function usageAttributes(usage: RunUsage): Attributes {
  return {
    [A.inputTokens]: usage.prompt_tokens,
    [A.outputTokens]: usage.completion_tokens,
    [A.cacheReadTokens]: usage.cached_tokens,
    [A.cacheWriteTokens]: usage.cache_write_tokens,
    [A.reasoningTokens]: usage.reasoning_tokens,
    [A.cost]: usage.cost,
  };
}

export function toUsageAttributes({ usage }: RecordedReply): Attributes {
  return usage ? usageAttributes(toRunUsage(usage)) : {};
}
