import { createHash } from 'node:crypto';
import type { BudgetLimit, ModelPrice } from '../../config/index.js';
import type { LlmConfig } from '../../config/namespaces/index.js';
import { DAY_MS, dayOf } from '../../kernel/index.js';
import type { Statement } from '../../persistence/statement/index.js';
import type { CallAccount, ChatRequest, ChatResult, OwnBudget, Usage } from '../chat/chat.types.js';
import { fromUnits, toUnits } from '../models/model-facts.js';
import { AGENT_RUN_KEY, type Amount, type BudgetName, type BudgetScope, RUN_KEY } from './budget.types.js';

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

/** A call before it starts. */
export interface PlannedCall {
  readonly model: string;
  readonly request: ChatRequest;
  /** Without a price, the call has no cost. */
  readonly price: ModelPrice | undefined;
}

/** Outcome of a call. */
export type CallEnd =
  | { readonly kind: 'answered'; readonly result: ChatResult }
  /** The provider rejected the call, or did not receive it. */
  | { readonly kind: 'refused' }
  /** The call failed after the provider may have accepted it, without final usage. */
  | {
      readonly kind: 'broken';
      /** The text and the reasoning that arrived. */
      readonly said: string;
      /** UTF-16 units of call arguments that arrived beside the text. */
      readonly unseen?: number;
      /** The counts that the provider reported before. */
      readonly usage?: Usage;
    };

/** The maximum amount of a call, reserved until the used amount is known. */
export abstract class Reservation {
  /** Length of a streamed reply, in UTF-16 units, at which the caller calls `grow`; never by default. */
  checkAt = Number.POSITIVE_INFINITY;

  /**
   * Extends the reservation for a streamed reply that exceeds it.
   * @param text text since the last call
   * @param length length of the whole reply so far, in UTF-16 units
   * @param unseen UTF-16 units of the reply that are call arguments
   * @throws AppError `BUDGET_EXCEEDED` if the budget has no room
   */
  grow(_text: string, _length: number, _unseen: number): Promise<void> | null {
    return null;
  }

  /**
   * Extends the reservation of a reply that is not streamed, by a share of the remaining budget.
   * @param most the largest limit that the model accepts, in tokens
   * @returns the reply limit that the budget allows, in tokens; `null` if no limit is necessary
   */
  async limitReply(_most: number): Promise<number | null> {
    return null;
  }

  /** Tokens that the budgets leave for this call, with those that it reserves; `null` without a limit of tokens. */
  async remaining(): Promise<number | null> {
    return null;
  }

  /**
   * Replaces the reservation by the used amount; idempotent. A complete reply counts as the provider reports it, or as
   * the estimate without a report. A rejected call counts as zero. A failed call counts the prompt and the received
   * part, and stays counted if the same step calls again.
   * @returns `null` if no I/O is necessary
   */
  abstract settle(end: CallEnd): Promise<void> | null;
}

/** Statements for the batch that journals the usage of calls or the end of their run. */
export interface JournaledSpending {
  readonly statements: readonly Statement[];
  /** Call it after the batch has committed. */
  committed(): void;
  /** Call it after the batch has failed. */
  discard(): void;
}

/** A new root run and its new session. */
export type NewAccount = Pick<CallAccount, 'tenant' | 'runId' | 'sessionId'>;

/** Usage of a call, as the journal records it. */
export interface ReportedUsage {
  readonly tokens: number;
  /** In the unit of `LLM_PRICES`. */
  readonly cost: number;
}

/** Usage of a journaled call. Times are epoch ms. */
export interface JournaledUsage extends ReportedUsage {
  readonly account: CallAccount;
  readonly at: number;
  /** Whether its root run has ended. */
  readonly isOver: boolean;
}

/** A budget and its total. Costs are in the unit of `LLM_PRICES`. */
export interface BudgetStatus {
  readonly name: BudgetName;
  /** The agent that owns the budget; absent for a budget of the server. */
  readonly agent?: string;
  /** Limits that are set. */
  readonly limit: BudgetLimit;
  readonly used: { readonly tokens: number; readonly cost: number };
  /** Epoch ms. */
  readonly resetsAt: number;
}

/** The port to the budgets, which no call exceeds. */
export abstract class ModelBudget {
  /** Whether the server has budgets; these limit every call with an account. */
  abstract readonly isForAll: boolean;

  /** Whether any budget limits the call; other calls need no reservation. */
  limits(account: CallAccount | undefined): account is CallAccount {
    return account !== undefined && (this.isForAll || account.own !== undefined);
  }

  /**
   * Reserves the maximum amount of a call. A repeated call of the same run and step replaces its reservation.
   * @returns `null` if no budget limits the call; synchronous if no I/O is necessary
   * @throws AppError `BUDGET_EXCEEDED` if a budget has no room
   */
  abstract reserve(account: CallAccount, call: PlannedCall): Reservation | null | Promise<Reservation | null>;

  /** Reports a new root run and session: their totals are zero. */
  onStarted(_account: NewAccount): void {}

  /**
   * Statements to commit with the usage of calls, or with the end of their run.
   * @param took usage of settled calls
   * @param isOver whether the run ends in this batch
   * @param isResumed whether an earlier execution, perhaps of another process, may have stored totals of the run
   * @returns `null` if no statement is necessary
   */
  journaled(
    _runId: string,
    _took: readonly ReportedUsage[],
    _isOver: boolean,
    _isResumed?: boolean,
  ): JournaledSpending | null {
    return null;
  }

  /**
   * The budgets of the present day, with the amounts that calls of all processes have used or reserved.
   * @param account of a tenant, with the budgets of its agents
   */
  async today(_account: Pick<CallAccount, 'tenant' | 'own'>): Promise<readonly BudgetStatus[]> {
    return [];
  }

  /**
   * Recomputes all totals from the journal.
   * @returns the number of totals
   * @throws AppError `BUDGET_IN_USE` if calls are in progress; nothing has changed then
   */
  abstract rebuild(usages: AsyncIterable<JournaledUsage>): Promise<number>;
}
