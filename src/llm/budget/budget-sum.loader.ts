import type { BudgetBook } from './budget-book.builder.js';
import type { TotalRow } from './budget-row.mapper.js';
import { NOTHING } from './budget.types.js';
import type { SharedBudgetStore } from './shared-budget.store.js';

/** Reads sums into memory that are not there, and lets nobody read while all of them are replaced. */
export class BudgetSumLoader {
  private opened: Promise<void> | null = null;
  private isOpened = false;
  /** While the sums are being replaced. */
  private replaced: Promise<void> | null = null;
  private replacements = 0;

  constructor(
    private readonly shared: SharedBudgetStore,
    private readonly book: BudgetBook,
  ) {}

  /** Whether what is in memory holds as it is. */
  get isReady(): boolean {
    return this.isOpened && !this.replaced;
  }

  /** Reads what is not in memory; anew when all was replaced meanwhile. @param zeros what is in the database neither */
  async learn(zeros: readonly TotalRow[], keys: readonly string[]): Promise<void> {
    await this.forgetReserved();
    for (let replacements; this.replaced || replacements !== this.replacements;) {
      await this.replaced;
      ({ replacements } = this);
      await this.read(zeros, keys);
    }
  }

  /** Replaces all sums in the database; nobody reserves meanwhile. @param work gives whether they were */
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
    this.book.clear();
  }

  private async read(zeros: readonly TotalRow[], keys: readonly string[]): Promise<void> {
    const unknown = this.book.unknown(keys);
    if (unknown.length === 0) return;
    const { replacements } = this;
    const rows = await this.shared.sums(unknown);
    if (replacements !== this.replacements) return;
    for (const row of rows) this.book.learnSum(row, true);
    // One that was let go meanwhile was not asked for.
    for (const zero of zeros) if (unknown.includes(zero.scope)) this.book.learnSum(zero, false);
  }

  /** Once: what is reserved in the database is of a process that crashed, as there is no other. */
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
