import type { Log } from '../../errors/index.js';
import type { Usage } from '../chat/chat.types.js';
import { toUnits } from '../models/model-facts.js';
import { replyUsedUp } from './budget.error.js';
import type { BudgetStore } from './budget.store.js';
import type { Amount, BudgetEntry, BudgetName, BudgetScope } from './budget.types.js';
import { unseenTokens, type CallEstimate } from './call-estimate.policy.js';
import { Reservation, type CallEnd } from './model-budget.js';

/** Lifetime of a reservation, in ms: longer than any call. Reservations of a crashed process expire after it. */
export const EXPIRES_MS = 900_000;
/** The smallest extension of a running reply, in tokens. */
const MIN_STEP = 32;
/** Reply length in tokens from which no limit is set, since longer replies are rare. */
const LONG_REPLY = 32_768;
/** Maximum share of the remaining budget for one reply. Calls of a run are mostly sequential. */
const SHARES: Readonly<Record<BudgetName, number>> = { run: 1 / 2, session: 1 / 2, tenant_day: 1 / 8, day: 1 / 8 };
const PRICE_TOKENS = 1_000_000;

interface Held {
  readonly entry: BudgetEntry;
  readonly scopes: readonly BudgetScope[];
  readonly isJournaled: boolean;
}

interface Tools {
  readonly store: BudgetStore;
  readonly logger: Log;
  /** Releases the reservations of crashed processes. @returns their number */
  readonly expire: () => Promise<number>;
}

/** The reservation of one call in a store. */
export class HeldReservation extends Reservation {
  private entry: BudgetEntry;
  /** The longest reply without an extension, in tokens. */
  private allowed: number;
  /** Tokens of the running reply, as far as they are counted. */
  private counted = 0;

  constructor(
    private readonly held: Held,
    private readonly estimate: CallEstimate,
    private readonly tools: Tools,
  ) {
    super();
    this.entry = held.entry;
    // Tolerance for a reply that the provider limits, since its tokenizer differs from the estimate.
    this.allowed = estimate.mostReply + (estimate.isLimited ? Math.ceil(estimate.mostReply / 4) + MIN_STEP : 0);
    this.checkAt = this.allowed;
  }

  /** Counts tokens only from the length at which one token per character would exceed the reservation. */
  override grow(text: string, length: number, unseen: number): Promise<void> | null {
    this.counted += this.estimate.counter.count(text);
    const tokens = this.counted + unseenTokens(unseen);
    if (tokens > this.allowed) return this.extend(tokens, length);
    this.checkAt = length + Math.max(this.allowed - tokens, MIN_STEP);
    return null;
  }

  override async limitReply(most: number): Promise<number | null> {
    const rooms = await Promise.all(this.held.scopes.map((scope) => this.roomOf(scope)));
    const more = Math.floor(Math.min(...rooms));
    if (more >= LONG_REPLY) return null;
    const limit = Math.max(Math.min(this.allowed + more, most), this.allowed);
    if (limit > this.allowed && (await this.replaceBy(limit)) === null) this.allowed = limit;
    return this.allowed;
  }

  override async remaining(): Promise<number | null> {
    const limited = this.held.scopes.filter(({ limit }) => limit.tokens !== Number.MAX_SAFE_INTEGER);
    if (limited.length === 0) return null;
    const sums = await Promise.all(limited.map((scope) => this.tools.store.sum(scope)));
    const rooms = limited.map(({ limit }, at) => limit.tokens - (sums[at]?.tokens ?? 0));
    return Math.max(0, Math.min(...rooms) + this.entry.tokens);
  }

  /** Reply tokens that fit into the share of the remaining budget. */
  private async roomOf(scope: BudgetScope): Promise<number> {
    const sum = await this.tools.store.sum(scope);
    if (!sum) return 0;
    const { limit } = scope;
    const output = toUnits(this.estimate.price?.output ?? 0) / PRICE_TOKENS;
    const byCost = output > 0 ? (limit.cost - sum.cost) / output : Number.POSITIVE_INFINITY;
    return Math.max(0, Math.min(limit.tokens - sum.tokens, byCost) * SHARES[scope.name]);
  }

  /** Retries with smaller steps if the budget has no room for a larger one. */
  private async extend(tokens: number, length: number): Promise<void> {
    let full: BudgetScope | null = null;
    for (let step = Math.max(this.estimate.replyTokens, MIN_STEP); step >= MIN_STEP; step = Math.floor(step / 4)) {
      full = await this.replaceBy(tokens + step);
      if (full && (await this.tools.expire()) > 0) full = await this.replaceBy(tokens + step);
      if (full) continue;
      this.allowed = tokens + step;
      this.checkAt = length + step;
      return;
    }
    throw replyUsedUp(full!, tokens);
  }

  /** @returns the budget without room for a reply of `tokens` tokens, else `null` */
  private async replaceBy(tokens: number): Promise<BudgetScope | null> {
    const { store } = this.tools;
    for (;;) {
      const now = Date.now();
      const wanted = { ...this.entry, ...this.estimate.amountOf(tokens), expiresAt: now + EXPIRES_MS };
      const refusal = await store.reserve(wanted, this.entry, this.held.scopes, now);
      if (refusal?.kind === 'full') return refusal.scope;
      if (refusal === null) {
        this.entry = wanted;
        return null;
      }
      // The reservation has expired, or another process has taken over the call.
      const found = await store.find(this.entry.id);
      if (found?.holder !== this.entry.holder) return null;
      this.entry = found;
    }
  }

  settle(end: CallEnd): Promise<void> | null {
    const { id, holder } = this.entry;
    const spent = this.estimate.spentOn(end);
    const how = {
      // The usage of a failed call stays counted if the same step calls again.
      id: end.kind === 'broken' ? `${id}~${holder}` : id,
      isReported: this.held.isJournaled && end.kind === 'answered' && isReported(spent, end.result.usage),
    };
    const settled = this.tools.store.settle(this.entry, spent, Date.now(), how);
    return settled === true ? null : this.settleAgain(settled, spent, how);
  }

  private async settleAgain(
    settled: false | Promise<boolean>,
    spent: Amount,
    how: { readonly id: string; readonly isReported: boolean },
  ): Promise<void> {
    const { id, holder } = this.entry;
    const { store, logger } = this.tools;
    try {
      if (await settled) return;
      // The reservation may have expired. An entry of another holder is not settled here.
      for (;;) {
        const entry = await store.find(id);
        if (entry?.holder !== holder) return;
        if (await store.settle(entry, spent, Date.now(), how)) return;
      }
    } catch (err) {
      // The reply is returned nevertheless; the reservation counts until it expires.
      logger.warn({ err, entry: id }, 'The use of a model call could not be settled');
    }
  }
}

/** Whether the usage event of the call will have the same amount. */
function isReported({ tokens, cost }: Amount, usage: Usage | undefined): boolean {
  return usage !== undefined && usage.totalTokens === tokens && toUnits(usage.cost ?? 0) === cost;
}
