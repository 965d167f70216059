import type { AppConfig, BudgetLimit } from '../../config/index.js';
import type { CallAccount } from '../chat.types.js';
import { fromUnits, toUnits } from '../wrappers/cost.policy.js';
import type { Amount, BudgetName, BudgetScope } from './budget.types.js';

const DAY_MS = 86_400_000;

/** The budgets that a call counts in, in the order of their keys, so that two calls never wait for each other. */
export function scopesOf(
  { tenant, runId, rootRunId = runId, sessionId }: Omit<CallAccount, 'step'>,
  budget: AppConfig['llm']['budget'],
  now: number,
): BudgetScope[] {
  const day = new Date(now).toISOString().slice(0, 10);
  const resetsAt = (Math.floor(now / DAY_MS) + 1) * DAY_MS;
  const scopes = [
    scope('run', budget.run, { key: `run:${rootRunId}`, tenant, resetsAt: null }),
    sessionId === null
      ? null
      : scope('session', budget.session, { key: `session:${tenant}:${sessionId}`, tenant, resetsAt: null }),
    scope('tenant_day', budget.tenantDay, { key: `tenant_day:${day}:${tenant}`, tenant, resetsAt }),
    scope('day', budget.day, { key: `day:${day}`, tenant: '', resetsAt }),
  ];
  return scopes.filter((one) => one !== null).toSorted((a, b) => (a.key < b.key ? -1 : 1));
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
