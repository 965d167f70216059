import type { CallAccount, OwnBudget, Usage } from '../../llm/chat/index.js';
import { roundCost } from '../../llm/models/index.js';
import type { RunContext } from '../context/run-context.js';
import type { RunUsage } from '../event/run-event.types.js';

/**
 * The account of a model call. Calls of a child run count in the budgets of the root run.
 * @param own budgets in addition to the server's
 */
export function toAccount(
  { runId, sessionId, principal, lineage, isJournaled }: RunContext,
  step: string,
  own: readonly OwnBudget[] = [],
): CallAccount {
  return {
    tenant: principal.tenant,
    runId,
    ...(lineage && { rootRunId: lineage.rootRunId }),
    sessionId: lineage ? lineage.rootSessionId : sessionId,
    step,
    isJournaled,
    ...(own.length > 0 && { own }),
  };
}

/** The usage of a model call, in wire form. */
export function toRunUsage(usage: Usage): RunUsage {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.totalTokens,
    ...known('cached_tokens', usage.cachedTokens),
    ...known('cache_write_tokens', usage.cacheWriteTokens),
    ...known('reasoning_tokens', usage.reasoningTokens),
    ...known('cost', usage.cost),
  };
}

/** The inverse of `toRunUsage`. */
export function toUsage(usage: RunUsage): Usage {
  return {
    promptTokens: usage.prompt_tokens,
    completionTokens: usage.completion_tokens,
    totalTokens: usage.total_tokens,
    ...known('cachedTokens', usage.cached_tokens),
    ...known('cacheWriteTokens', usage.cache_write_tokens),
    ...known('reasoningTokens', usage.reasoning_tokens),
    ...known('cost', usage.cost),
  };
}

/** The sum of both. A field that both lack is absent. */
export function addUsage(sum: RunUsage, more: RunUsage): RunUsage {
  return {
    prompt_tokens: sum.prompt_tokens + more.prompt_tokens,
    completion_tokens: sum.completion_tokens + more.completion_tokens,
    total_tokens: sum.total_tokens + more.total_tokens,
    ...known('cached_tokens', both(sum.cached_tokens, more.cached_tokens)),
    ...known('cache_write_tokens', both(sum.cache_write_tokens, more.cache_write_tokens)),
    ...known('reasoning_tokens', both(sum.reasoning_tokens, more.reasoning_tokens)),
    ...known('cost', roundCost(both(sum.cost, more.cost))),
  };
}

function both(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
}

function known<Name extends string>(name: Name, value: number | undefined): Partial<Record<Name, number>> {
  return value === undefined ? {} : ({ [name]: value } as Partial<Record<Name, number>>);
}
