import type { BudgetLedger } from './budget-ledger.builder.js';
import type { TotalRow } from './budget-row.mapper.js';
import { NOTHING } from './budget.types.js';
import type { SharedBudgetStore } from './shared-budget.store.js';

/** Loads totals into memory on demand and blocks loading while all totals are replaced. */
export class BudgetSumLoader {
  private opened: Promise<void> | null = null;
  private isOpened = false;
  /** Set while a replacement is in progress. */
  private replaced: Promise<void> | null = null;
  private replacements = 0;

  constructor(
    private readonly shared: SharedBudgetStore,
    private readonly ledger: BudgetLedger,
  ) {}

  /** Whether the totals in memory are valid without a query. */
  get isReady(): boolean {
    return this.isOpened && !this.replaced;
  }

  /**
   * Loads the totals that are not in memory; repeats if all totals were replaced meanwhile.
   * @param zeros empty totals for keys without a row in the database
   */
  async learn(zeros: readonly TotalRow[], keys: readonly string[]): Promise<void> {
    await this.forgetReserved();
    for (let replacements; this.replaced || replacements !== this.replacements;) {
      await this.replaced;
      ({ replacements } = this);
      await this.read(zeros, keys);
    }
  }

  /**
   * Replaces all totals in the database; reservations wait meanwhile.
   * @param work resolves with whether it replaced them
   */
  async replacing(work: () => Promise<boolean>): Promise<boolean> {
    while (this.replaced) await this.replaced;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.replaced = promise;
    try {
      await this.forgetReserved();
      const isReplaced = await work();
      if (isReplaced) this.forget();
      return isReplaced;
    } finally {
      this.replaced = null;
      resolve();
    }
  }

  private forget(): void {
    this.replacements++;
    this.ledger.clear();
  }

  private async read(zeros: readonly TotalRow[], keys: readonly string[]): Promise<void> {
    const unknown = this.ledger.unknown(keys);
    if (unknown.length === 0) return;
    const { replacements } = this;
    const rows = await this.shared.sums(unknown);
    if (replacements !== this.replacements) return;
    for (const row of rows) this.ledger.learnSum(row, true);
    // Only for requested keys: the database may have a row of a total that was evicted meanwhile.
    for (const zero of zeros) if (unknown.includes(zero.scope)) this.ledger.learnSum(zero, false);
  }

  /** Once: releases the reservations in the database. A crashed process left them, since no other process uses it. */
  private forgetReserved(): Promise<void> {
    return (this.opened ??= this.settleReserved().then(
      () => void (this.isOpened = true),
      (error: unknown) => {
        this.opened = null;
        throw error;
      },
    ));
  }

  private async settleReserved(): Promise<void> {
    for (;;) {
      const entries = await this.shared.expired(Number.MAX_SAFE_INTEGER);
      if (entries.length === 0) return;
      for (const entry of entries) await this.shared.settle(entry, NOTHING, Date.now());
    }
  }
}
