import { AppError, Log } from '../../errors/index.js';
import { newId } from '../../kernel/index.js';
import type { LlmConfig } from '../../config/namespaces/index.js';
import type { CallAccount } from '../chat/chat.types.js';
import { RepeatedTokenCounter, type TokenCounter } from '../tokens/token-counter.js';
import { budgetExceeded, budgetInUse } from './budget.error.js';
import { fromUnits, toUnits } from '../models/model-facts.js';
import {
  type BudgetLimits,
  type BudgetStatus,
  fits,
  type JournaledSpending,
  type JournaledUsage,
  lastingScopesOf,
  limitsOf,
  ModelBudget,
  type NewAccount,
  type PlannedCall,
  type ReportedUsage,
  type Reservation,
  scopesOf,
} from './model-budget.js';
import type { BudgetRefusal, BudgetStore } from './budget.store.js';
import { NOTHING, type Amount, type BudgetEntry, type BudgetScope } from './budget.types.js';
import { CallEstimate } from './call-estimate.policy.js';
import { EXPIRES_MS, HeldReservation } from './held-reservation.js';

const ATTEMPTS = 50;
const PRUNE_EVERY = 500;

/** Budgets with totals in a store; exact with any number of processes. */
export class StoredModelBudget extends ModelBudget {
  private readonly logger = new Log(StoredModelBudget.name);
  /** Prefix of the holders of this process; unique. */
  private readonly id = newId();
  private reservations = 0;
  private readonly repeatedBy = new Map<TokenCounter, RepeatedTokenCounter>();
  private readonly serverLimits: BudgetLimits;
  readonly isForAll: boolean;

  constructor(
    private readonly store: BudgetStore,
    private readonly rules: LlmConfig['budget'],
    private readonly counterOf: (model: string) => TokenCounter,
  ) {
    super();
    this.serverLimits = limitsOf(rules);
    this.isForAll = Object.keys(this.serverLimits).length > 0;
  }

  reserve(
    account: CallAccount,
    { model, request, price }: PlannedCall,
  ): Reservation | null | Promise<Reservation | null> {
    const now = Date.now();
    const scopes = scopesOf(account, this.serverLimits, now);
    if (scopes.length === 0) return null;
    const counter = this.counterOf(model);
    const estimate = new CallEstimate(request, counter, this.repeated(counter), this.rules.replyTokens, price);
    const entry: BudgetEntry = {
      ...estimate.most,
      id: `${account.runId}:${account.step}`,
      runId: account.runId,
      tenant: account.tenant,
      holder: `${this.id}:${++this.reservations}`,
      scopes: scopes.map(({ key }) => key),
      expiresAt: now + EXPIRES_MS,
    };
    const isJournaled = account.isJournaled === true;
    const tools = { store: this.store, logger: this.logger, expire: () => this.expire(Date.now()) };
    const held = new HeldReservation({ entry, scopes, isJournaled }, estimate, tools);
    const refusal = this.store.reserve(entry, null, scopes, now);
    const isPruned = this.reservations % PRUNE_EVERY === 0;
    if (refusal === null && !isPruned) return held;
    return this.enter(entry, scopes, now, refusal).then(async () => {
      if (isPruned) await this.store.prune(now);
      return held;
    });
  }

  override onStarted(account: NewAccount): void {
    this.store.onStarted(lastingScopesOf(account, this.serverLimits), Date.now());
  }

  override journaled(
    runId: string,
    took: readonly ReportedUsage[],
    isOver: boolean,
    isResumed?: boolean,
  ): JournaledSpending | null {
    const amounts = took.map(({ tokens, cost }) => ({ tokens: Math.round(tokens), cost: toUnits(cost) }));
    return this.store.journaled(runId, amounts, isOver, isResumed);
  }

  override async today({ tenant, own }: Pick<CallAccount, 'tenant' | 'own'>): Promise<readonly BudgetStatus[]> {
    const account = { tenant, runId: '', sessionId: null, ...(own && { own }) };
    const { tenantDay, day } = this.serverLimits;
    const limits = { ...(tenantDay && { tenantDay }), ...(day && { day }) };
    const daily = scopesOf(account, limits, Date.now()).filter(({ resetsAt }) => resetsAt !== null);
    return Promise.all(daily.map(async (scope) => toStatus(scope, (await this.store.sum(scope)) ?? NOTHING)));
  }

  async rebuild(usages: AsyncIterable<JournaledUsage>): Promise<number> {
    const startedAt = Date.now();
    const sums = new Map<string, { scope: BudgetScope; sum: Amount }>();
    for await (const { account, at, isOver, tokens, cost } of usages) {
      const { run, ...others } = this.serverLimits;
      // No call uses the total of a run that has ended.
      const limits = run && !isOver ? { run, ...others } : others;
      for (const scope of scopesOf(account, limits, at)) {
        const { sum } = sums.get(scope.key) ?? { sum: NOTHING };
        sums.set(scope.key, { scope, sum: { tokens: sum.tokens + tokens, cost: sum.cost + toUnits(cost) } });
      }
    }
    const counted = new Map([...sums.values()].map(({ scope, sum }) => [scope, sum]));
    if (!(await this.store.replaceAll(counted, startedAt, Date.now()))) throw budgetInUse();
    return counted.size;
  }

  private repeated(counter: TokenCounter): TokenCounter {
    let repeated = this.repeatedBy.get(counter);
    if (!repeated) this.repeatedBy.set(counter, (repeated = new RepeatedTokenCounter(counter)));
    return repeated;
  }

  private async enter(
    entry: BudgetEntry,
    scopes: readonly BudgetScope[],
    now: number,
    pending: BudgetRefusal | null | Promise<BudgetRefusal | null>,
  ): Promise<void> {
    const refusal = await pending;
    if (refusal) await this.enterAgain(entry, scopes, now, refusal);
  }

  /** Retries after a rejection: replaces an existing entry, creates totals or releases expired reservations. */
  private async enterAgain(
    entry: BudgetEntry,
    scopes: readonly BudgetScope[],
    now: number,
    first: BudgetRefusal,
  ): Promise<void> {
    let refusal: BudgetRefusal | null = first;
    let before: BudgetEntry | null = null;
    for (let attempt = 2; attempt <= ATTEMPTS; attempt++) {
      if (refusal.kind === 'taken') before = await this.store.find(entry.id);
      else await this.makeRoom(entry, refusal.scope, scopes, before, now);
      refusal = await this.store.reserve(entry, before, scopes, now);
      if (!refusal) return;
    }
    const message = `The budgets are too busy for the step ${entry.id}; try again.`;
    throw new AppError('COMMIT_REFUSED', message, { isRetryable: true });
  }

  /**
   * Creates missing totals or releases expired reservations.
   * @throws AppError `BUDGET_EXCEEDED` if the budget has no room
   */
  private async makeRoom(
    entry: BudgetEntry,
    scope: BudgetScope,
    scopes: readonly BudgetScope[],
    before: BudgetEntry | null,
    now: number,
  ): Promise<void> {
    const sum = await this.store.sum(scope);
    if (!sum) return this.store.open(scopes, now);
    const own = before?.scopes.includes(scope.key) ? before : NOTHING;
    const others = { tokens: sum.tokens - own.tokens, cost: sum.cost - own.cost };
    if (fits(others, entry, scope.limit)) return;
    if ((await this.expire(now)) === 0) throw budgetExceeded(scope, others, entry);
  }

  /** Releases expired reservations of crashed processes. @returns their number */
  private async expire(now: number): Promise<number> {
    let gone = 0;
    for (const entry of await this.store.expired(now)) if (await this.store.settle(entry, NOTHING, now)) gone++;
    return gone;
  }
}

function toStatus({ name, agent, limit: { tokens, cost }, resetsAt }: BudgetScope, sum: Amount): BudgetStatus {
  return {
    name,
    ...(agent !== undefined && { agent }),
    limit: {
      ...(tokens !== Number.MAX_SAFE_INTEGER && { tokens }),
      ...(cost !== Number.MAX_SAFE_INTEGER && { cost: fromUnits(cost) }),
    },
    used: { tokens: sum.tokens, cost: fromUnits(sum.cost) },
    resetsAt: resetsAt!,
  };
}
