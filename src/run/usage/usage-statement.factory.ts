import { dayOf } from '../../kernel/index.js';
import { toUnits } from '../../llm/index.js';
import { insert, type Statement } from '../../persistence/index.js';
import type { UsageReported } from '../run-event.types.js';
import type { RunRecord } from '../run.types.js';

const MOST_NAME = 200;
/** Maxima of one call, so that a provider's wrong values do not overflow the sums. */
const MOST_TOKENS = 1e12;
const MOST_COST = 1e15;

/**
 * Inserts the usage of a call, in the batch that journals its event. Usage of a child run counts in the session of the
 * root run.
 * @param n the event's number
 * @param at the event's time, epoch ms
 */
export function insertUsage(
  {
    id,
    tenant,
    principal,
    sessionId,
    lineage,
  }: Pick<RunRecord, 'id' | 'tenant' | 'principal' | 'sessionId' | 'lineage'>,
  usage: UsageReported,
  n: number,
  at: number,
): Statement {
  return insert('run_usage', {
    run_id: id,
    n,
    tenant,
    session_id: (lineage ? lineage.rootSessionId : sessionId) ?? '',
    principal_id: principal.id,
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

function tokens(reported: number): number {
  return Math.min(Math.round(reported), MOST_TOKENS);
}
