import { createHash } from 'node:crypto';
import { DAY_MS, dayOf } from '../../common/index.js';
import type { AppConfig, BudgetLimit } from '../../config/index.js';
import type { CallAccount, OwnBudget } from '../chat.types.js';
import { fromUnits, toUnits } from '../wrappers/cost.policy.js';
import { AGENT_RUN_KEY, type Amount, type BudgetName, type BudgetScope } from './budget.types.js';

/** The budgets that a call counts in, in the order of their keys, so that two calls never wait for each other. */
export function scopesOf(
  account: Omit<CallAccount, 'step'>,
  budget: AppConfig['llm']['budget'],
  now: number,
): BudgetScope[] {
  const { tenant, runId, rootRunId = runId, sessionId, own = [] } = account;
  const day = dayOf(now);
  const resetsAt = (Math.floor(now / DAY_MS) + 1) * DAY_MS;
  const scopes = [
    scope('run', budget.run, { key: `run:${rootRunId}`, tenant, resetsAt: null }),
    sessionId === null
      ? null
      : scope('session', budget.session, { key: `session:${tenant}:${sessionId}`, tenant, resetsAt: null }),
    scope('tenant_day', budget.tenantDay, { key: `tenant_day:${day}:${tenant}`, tenant, resetsAt }),
    scope('day', budget.day, { key: `day:${day}`, tenant: '', resetsAt }),
    ...own.flatMap((one) => ownScopes(one, account, { day, resetsAt })),
  ];
  return scopes.filter((one) => one !== null).toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

/** By hashes, since names of sessions, tenants and agents together are longer than a key. */
function ownScopes(
  { agent, runId, limits }: OwnBudget,
  { tenant, sessionId }: Omit<CallAccount, 'step'>,
  { day, resetsAt }: { readonly day: string; readonly resetsAt: number },
): (BudgetScope | null)[] {
  const own = [
    scope('run', limits.run, { key: `${AGENT_RUN_KEY}${runId}`, tenant, resetsAt: null }),
    sessionId === null
      ? null
      : scope('session', limits.session, {
          key: `agent_session:${hashOf(agent, tenant, sessionId)}`,
          tenant,
          resetsAt: null,
        }),
    scope('tenant_day', limits.tenantDay, {
      key: `agent_tenant_day:${day}:${hashOf(agent, tenant)}`,
      tenant,
      resetsAt,
    }),
    scope('day', limits.day, { key: `agent_day:${day}:${hashOf(agent)}`, tenant: '', resetsAt }),
  ];
  return own.map((one) => one && { ...one, agent });
}

function hashOf(...names: readonly string[]): string {
  return createHash('sha256').update(names.join('\n')).digest('base64url');
}

function scope(
  name: BudgetName,
  limit: BudgetLimit | undefined,
  place: Omit<BudgetScope, 'name' | 'limit'>,
): BudgetScope | null {
  if (!limit) return null;
  const { tokens = Number.MAX_SAFE_INTEGER, cost } = limit;
  return { name, ...place, limit: { tokens, cost: cost === undefined ? Number.MAX_SAFE_INTEGER : toUnits(cost) } };
}

export function fits(sum: Amount, more: Amount, limit: Amount): boolean {
  return sum.tokens + more.tokens <= limit.tokens && sum.cost + more.cost <= limit.cost;
}

/** What of it is too much, as people count it. */
export function excess(sum: Amount, more: Amount, limit: Amount) {
  const isTokens = sum.tokens + more.tokens > limit.tokens;
  const unit = isTokens ? 'tokens' : 'cost';
  const shown = (amount: Amount) => (isTokens ? amount.tokens : fromUnits(amount.cost));
  return { unit, limit: shown(limit), spent: shown(sum), wanted: shown(more) } as const;
}
