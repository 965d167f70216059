import { Logger } from '@nestjs/common';
import { AppError, newId } from '../../common/index.js';
import type { AppConfig } from '../../config/index.js';
import type { CallAccount } from '../chat.types.js';
import type { TokenCounter } from '../tokens/token-counter.js';
import { budgetExceeded, budgetInUse } from './budget.error.js';
import { toUnits } from '../wrappers/cost.policy.js';
import { fits, lastingScopesOf, scopesOf } from './budget-scope.policy.js';
import type { BudgetRefusal, BudgetStore } from './budget.store.js';
import { NOTHING, type Amount, type BudgetEntry, type BudgetScope } from './budget.types.js';
import { CallEstimate } from './call-estimate.policy.js';
import {
  ModelBudget,
  Reservation,
  type CallEnd,
  type JournaledSpending,
  type JournaledUsage,
  type NewAccount,
  type PlannedCall,
} from './model-budget.js';

/** Longer than calls take: what a process that crashed has reserved counts no longer than this. */
const EXPIRES_MS = 900_000;
const ATTEMPTS = 50;
const PRUNE_EVERY = 500;

/** Budgets whose sums are in a store, exact however many processes share it. */
export class StoredModelBudget extends ModelBudget {
  private readonly logger = new Logger(StoredModelBudget.name);
  private reservations = 0;
  readonly isForAll: boolean;

  constructor(
    private readonly store: BudgetStore,
    private readonly rules: AppConfig['llm']['budget'],
    private readonly counterOf: (model: string) => TokenCounter,
  ) {
    super();
    const { run, session, tenantDay, day } = rules;
    this.isForAll = (run ?? session ?? tenantDay ?? day) !== undefined;
  }

  async reserve(account: CallAccount, { model, request, price }: PlannedCall): Promise<Reservation | null> {
    const now = Date.now();
    const scopes = scopesOf(account, this.rules, now);
    if (scopes.length === 0) return null;
    const estimate = new CallEstimate(request, this.counterOf(model), this.rules.replyTokens, price);
    const entry: BudgetEntry = {
      ...estimate.most,
      id: `${account.runId}:${account.step}`,
      runId: account.runId,
      tenant: account.tenant,
      holder: newId(),
      scopes: scopes.map(({ key }) => key),
      expiresAt: now + EXPIRES_MS,
    };
    const refusal = await this.store.reserve(entry, null, scopes, now);
    if (refusal) await this.enterAgain(entry, scopes, now, refusal);
    if (++this.reservations % PRUNE_EVERY === 0) await this.store.prune(now);
    return new HeldReservation(entry, { estimate, isJournaled: account.isJournaled === true }, this.store, this.logger);
  }

  override begun(account: NewAccount): void {
    this.store.begun(lastingScopesOf(account, this.rules), Date.now());
  }

  override journaled(
    runId: string,
    { tokens, cost }: Pick<JournaledUsage, 'tokens' | 'cost'>,
  ): JournaledSpending | null {
    return this.store.journaled(runId, { tokens: Math.round(tokens), cost: toUnits(cost) });
  }

  async rebuild(usages: AsyncIterable<JournaledUsage>): Promise<number> {
    const begunAt = Date.now();
    const sums = new Map<string, { scope: BudgetScope; sum: Amount }>();
    for await (const { account, at, tokens, cost } of usages) {
      for (const scope of scopesOf(account, this.rules, at)) {
        const { sum } = sums.get(scope.key) ?? { sum: NOTHING };
        sums.set(scope.key, { scope, sum: { tokens: sum.tokens + tokens, cost: sum.cost + toUnits(cost) } });
      }
    }
    const counted = new Map([...sums.values()].map(({ scope, sum }) => [scope, sum]));
    if (!(await this.store.replaceAll(counted, begunAt, Date.now()))) throw budgetInUse();
    return counted.size;
  }

  /** What was refused at first: there is something in its place, or there seems to be no room. */
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

  /** @throws AppError `BUDGET_EXCEEDED` when there is none to be made */
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

  /** Takes away what crashed processes have left. @returns how many reservations */
  private async expire(now: number): Promise<number> {
    let gone = 0;
    for (const entry of await this.store.expired(now)) if (await this.store.settle(entry, NOTHING, now)) gone++;
    return gone;
  }
}

class HeldReservation extends Reservation {
  constructor(
    private readonly entry: BudgetEntry,
    private readonly call: { readonly estimate: CallEstimate; readonly isJournaled: boolean },
    private readonly store: BudgetStore,
    private readonly logger: Logger,
  ) {
    super();
  }

  async settle(end: CallEnd): Promise<void> {
    const { id, holder } = this.entry;
    const { estimate, isJournaled } = this.call;
    const spent = estimate.spentOn(end);
    // What the same step takes when it asks again does not take the place of what is lost.
    const as = end.kind === 'broken' ? `${id}~${holder}` : id;
    const isTold = isJournaled && end.kind === 'answered' && end.result.usage !== undefined;
    try {
      let entry: BudgetEntry | null = this.entry;
      // It may have expired meanwhile; once somebody else has it, it is theirs to settle.
      while (entry?.holder === holder) {
        if (await this.store.settle(entry, spent, Date.now(), { id: as, isTold })) return;
        entry = await this.store.find(id);
      }
    } catch (err) {
      // The reply is worth more: until it expires, what was reserved counts.
      this.logger.warn({ err, entry: id }, 'What a model call has used could not be settled');
    }
  }
}
