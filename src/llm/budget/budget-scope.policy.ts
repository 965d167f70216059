import { createHash } from 'node:crypto';
import { DAY_MS, dayOf } from '../../common/index.js';
import type { AppConfig, BudgetLimit } from '../../config/index.js';
import type { CallAccount, OwnBudget } from '../chat.types.js';
import { fromUnits, toUnits } from '../wrappers/cost.policy.js';
import { AGENT_RUN_KEY, type Amount, type BudgetName, type BudgetScope } from './budget.types.js';

type Owner = Omit<CallAccount, 'step'>;
type ScopePlace = Pick<BudgetScope, 'key' | 'tenant' | 'resetsAt'>;

/** The budgets that a call counts in, in the order of their keys, so that two calls never wait for each other. */
export function scopesOf(account: Owner, budget: AppConfig['llm']['budget'], now: number): BudgetScope[] {
  const { tenant, own = [] } = account;
  const day = dayOf(now);
  const resetsAt = (Math.floor(now / DAY_MS) + 1) * DAY_MS;
  const scopes = own.flatMap((one) => ownScopes(one, account, { day, resetsAt })).filter((one) => one !== null);
  if (scopes.length > 1) scopes.sort((a, b) => (a.key < b.key ? -1 : 1));
  // These come after those of agents, in their order.
  if (budget.day) scopes.push(scope('day', budget.day, { key: `day:${day}`, tenant: '', resetsAt }));
  scopes.push(...lastingScopesOf(account, budget));
  const key = `tenant_day:${day}:${tenant}`;
  if (budget.tenantDay) scopes.push(scope('tenant_day', budget.tenantDay, { key, tenant, resetsAt }));
  return scopes;
}

/** Those of them that are never whole again, but for those of agents. */
export function lastingScopesOf(
  { tenant, runId, rootRunId = runId, sessionId }: Owner,
  { run, session }: AppConfig['llm']['budget'],
): BudgetScope[] {
  const scopes: BudgetScope[] = [];
  if (run) scopes.push(scope('run', run, { key: `run:${rootRunId}`, tenant, resetsAt: null }));
  const key = `session:${tenant}:${sessionId}`;
  if (session && sessionId !== null) scopes.push(scope('session', session, { key, tenant, resetsAt: null }));
  return scopes;
}

/** By hashes, since names of sessions, tenants and agents together are longer than a key. */
function ownScopes(
  { agent, runId, limits }: OwnBudget,
  { tenant, sessionId }: Owner,
  { day, resetsAt }: { readonly day: string; readonly resetsAt: number },
): (BudgetScope | null)[] {
  const own = [
    scopeIf('run', limits.run, { key: `${AGENT_RUN_KEY}${runId}`, tenant, resetsAt: null }),
    sessionId === null
      ? null
      : scopeIf('session', limits.session, {
          key: `agent_session:${hashOf(agent, tenant, sessionId)}`,
          tenant,
          resetsAt: null,
        }),
    scopeIf('tenant_day', limits.tenantDay, {
      key: `agent_tenant_day:${day}:${hashOf(agent, tenant)}`,
      tenant,
      resetsAt,
    }),
    scopeIf('day', limits.day, { key: `agent_day:${day}:${hashOf(agent)}`, tenant: '', resetsAt }),
  ];
  return own.map((one) => one && { ...one, agent });
}

function hashOf(...names: readonly string[]): string {
  return createHash('sha256').update(names.join('\n')).digest('base64url');
}

function scopeIf(name: BudgetName, limit: BudgetLimit | undefined, place: ScopePlace): BudgetScope | null {
  return limit ? scope(name, limit, place) : null;
}

function scope(
  name: BudgetName,
  { tokens = Number.MAX_SAFE_INTEGER, cost }: BudgetLimit,
  { key, tenant, resetsAt }: ScopePlace,
): BudgetScope {
  const limit = { tokens, cost: cost === undefined ? Number.MAX_SAFE_INTEGER : toUnits(cost) };
  return { name, key, tenant, resetsAt, limit };
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
