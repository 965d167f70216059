import { dayOf } from '../../common/index.js';
import { toUnits } from '../../llm/index.js';
import { insert, type Statement } from '../../persistence/index.js';
import type { UsageReported } from '../run-event.types.js';
import type { RunRecord } from '../run.types.js';

const MOST_NAME = 200;
/** Of one call; what a provider says beyond is no count, and sums must not run over. */
const MOST_TOKENS = 1e12;
const MOST_COST = 1e15;

/**
 * What a call took, for the batch that journals the event which tells it. What a run takes that another one called counts
 * in the session of the run at the top.
 * @param n the event's number
 * @param at when it was told, epoch ms
 */
export function insertUsage(
  { id, tenant, sessionId, lineage }: Pick<RunRecord, 'id' | 'tenant' | 'sessionId' | 'lineage'>,
  usage: UsageReported,
  n: number,
  at: number,
): Statement {
  return insert('run_usage', {
    run_id: id,
    n,
    tenant,
    session_id: (lineage ? lineage.rootSessionId : sessionId) ?? '',
    day: dayOf(at),
    model: usage.model.slice(0, MOST_NAME),
    prompt_tokens: tokens(usage.prompt_tokens),
    completion_tokens: tokens(usage.completion_tokens),
    total_tokens: tokens(usage.total_tokens),
    cached_tokens: usage.cached_tokens === undefined ? null : tokens(usage.cached_tokens),
    reasoning_tokens: usage.reasoning_tokens === undefined ? null : tokens(usage.reasoning_tokens),
    cost: usage.cost === undefined ? null : Math.min(toUnits(usage.cost), MOST_COST),
    created_at: at,
  });
}

function tokens(told: number): number {
  return Math.min(Math.round(told), MOST_TOKENS);
}
