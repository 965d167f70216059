import { createHash } from 'node:crypto';
import { DAY_MS, dayOf } from '../../kernel/index.js';
import type { BudgetLimit, LlmConfig } from '../../config/index.js';
import type { CallAccount, OwnBudget } from '../chat.types.js';
import { fromUnits, toUnits } from '../wrappers/cost.policy.js';
import { AGENT_RUN_KEY, RUN_KEY, type Amount, type BudgetName, type BudgetScope } from './budget.types.js';

type Owner = Omit<CallAccount, 'step'>;
type ScopePlace = Pick<BudgetScope, 'key' | 'tenant' | 'resetsAt'>;

/** Limits of the server, by the names of its settings. */
export type BudgetLimits = Partial<Record<'run' | 'session' | 'tenantDay' | 'day', Amount>>;

export function limitsOf({ run, session, tenantDay, day }: LlmConfig['budget']): BudgetLimits {
  return {
    ...(run && { run: toAmount(run) }),
    ...(session && { session: toAmount(session) }),
    ...(tenantDay && { tenantDay: toAmount(tenantDay) }),
    ...(day && { day: toAmount(day) }),
  };
}

/** The budgets that limit a call, sorted by key. The order prevents deadlocks between concurrent calls. */
export function scopesOf(account: Owner, limits: BudgetLimits, now: number): BudgetScope[] {
  const { tenant, own } = account;
  const day = dayOf(now);
  const resetsAt = (Math.floor(now / DAY_MS) + 1) * DAY_MS;
  const scopes = own ? scopesOfAgents(own, account, { day, resetsAt }) : [];
  // These keys sort after the keys of agents, in this order.
  if (limits.day) scopes.push({ name: 'day', limit: limits.day, key: `day:${day}`, tenant: '', resetsAt });
  addLasting(scopes, account, limits);
  const key = `tenant_day:${day}:${tenant}`;
  if (limits.tenantDay) scopes.push({ name: 'tenant_day', limit: limits.tenantDay, key, tenant, resetsAt });
  return scopes;
}

/** The server's budgets that never reset: run and session. */
export function lastingScopesOf(account: Owner, limits: BudgetLimits): BudgetScope[] {
  const scopes: BudgetScope[] = [];
  addLasting(scopes, account, limits);
  return scopes;
}

function addLasting(
  scopes: BudgetScope[],
  { tenant, runId, rootRunId = runId, sessionId }: Owner,
  { run, session }: BudgetLimits,
): void {
  if (run) scopes.push({ name: 'run', limit: run, key: RUN_KEY + rootRunId, tenant, resetsAt: null });
  if (!session || sessionId === null) return;
  // A tenant may contain a colon too, but no line break. Keys of ids without a colon stay as they were.
  const key = `session:${tenant}${sessionId.includes(':') ? '\n' : ':'}${sessionId}`;
  scopes.push({ name: 'session', limit: session, key, tenant, resetsAt: null });
}

function scopesOfAgents(
  own: readonly OwnBudget[],
  account: Owner,
  today: { readonly day: string; readonly resetsAt: number },
): BudgetScope[] {
  const scopes = own.flatMap((one) => ownScopes(one, account, today)).filter((one) => one !== null);
  return scopes.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

/** Keys contain hashes: the names of session, tenant and agent together can exceed the column length. */
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
  return limit ? { name, limit: toAmount(limit), ...place } : null;
}

function toAmount({ tokens = Number.MAX_SAFE_INTEGER, cost }: BudgetLimit): Amount {
  return { tokens, cost: cost === undefined ? Number.MAX_SAFE_INTEGER : toUnits(cost) };
}

export function fits(sum: Amount, more: Amount, limit: Amount): boolean {
  return sum.tokens + more.tokens <= limit.tokens && sum.cost + more.cost <= limit.cost;
}

/** The exceeded unit, with its limit, spent and requested amount in display units. */
export function excess(sum: Amount, more: Amount, limit: Amount) {
  const isTokens = sum.tokens + more.tokens > limit.tokens;
  const unit = isTokens ? 'tokens' : 'cost';
  const shown = (amount: Amount) => (isTokens ? amount.tokens : fromUnits(amount.cost));
  return { unit, limit: shown(limit), spent: shown(sum), wanted: shown(more) } as const;
}
