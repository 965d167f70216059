import { Logger } from '@nestjs/common';
import type { CommitCompanion, Database, Statement } from '../../persistence/index.js';
import { BudgetBook, prefixOf } from './budget-book.builder.js';
import { toEntryRow, toTotalRow } from './budget-row.mapper.js';
import { fits } from './budget-scope.policy.js';
import { BudgetStore, type BudgetRefusal } from './budget.store.js';
import { NOTHING, type Amount, type BudgetEntry, type BudgetScope } from './budget.types.js';
import type { SharedBudgetStore } from './shared-budget.store.js';

/** Runs and sums that are held when nobody uses them. */
const HELD = 1000;
/** When nothing else is committed. */
const WRITTEN_AFTER_MS = 1000;

/**
 * Budgets in a database that no other process counts in: decided in memory, and what calls took is written with whatever is
 * committed next, the step of the call at the latest. What was reserved when the process crashed is gone with it.
 */
export class OwnBudgetStore extends BudgetStore implements CommitCompanion {
  private readonly logger = new Logger(OwnBudgetStore.name);
  private readonly book = new BudgetBook();
  private opened: Promise<void> | null = null;
  private replaced: Promise<unknown> = Promise.resolve();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly database: Database,
    private readonly shared: SharedBudgetStore,
  ) {
    super();
  }

  async find(id: string): Promise<BudgetEntry | null> {
    await this.know(id, []);
    return this.book.find(id);
  }

  async expired(now: number): Promise<BudgetEntry[]> {
    return this.book.reserved().filter(({ expiresAt }) => expiresAt! < now);
  }

  async sum(scope: BudgetScope): Promise<Amount> {
    await this.know(null, [scope]);
    return this.book.sum(scope.key);
  }

  async reserve(
    entry: BudgetEntry,
    before: BudgetEntry | null,
    scopes: readonly BudgetScope[],
    now: number,
  ): Promise<BudgetRefusal | null> {
    await this.know(entry.id, scopes, before?.scopes);
    if (!isSame(this.book.find(entry.id), before)) return { kind: 'taken' };
    if (before) this.book.remove(before);
    const scope = scopes.find(({ key, limit }) => !fits(this.book.sum(key), entry, limit));
    if (scope && before) this.book.add(before, now);
    if (scope) return { kind: 'full', scope };
    this.book.add(entry, now);
    return null;
  }

  /** They are opened with what is reserved. */
  async open(): Promise<void> {}

  async settle(entry: BudgetEntry, { tokens, cost }: Amount, now: number, id = entry.id): Promise<boolean> {
    // Whoever reserved it has made it known.
    const there = this.book.find(entry.id);
    if (!there || !isSame(there, entry)) return false;
    this.book.remove(there);
    this.book.add({ ...entry, id, tokens, cost, expiresAt: null }, now);
    this.writeSoon();
    return true;
  }

  prune(now: number): Promise<void> {
    return this.shared.prune(now);
  }

  async replaceAll(sums: ReadonlyMap<BudgetScope, Amount>, since: number, now: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.replaced;
    // Nobody reserves meanwhile.
    this.replaced = promise;
    try {
      await before;
      await this.write();
      const isQuiet = this.book.reserved().every(({ expiresAt }) => expiresAt! < now);
      const isReplaced = isQuiet && (await this.shared.replaceAll(sums, since, now));
      if (isReplaced) this.book.clear();
      return isReplaced;
    } finally {
      resolve();
    }
  }

  begin(): readonly Statement[] {
    if (this.book.isWritten) return [];
    const entries = [...this.book.entriesToWrite()].map(([id, booked]) =>
      booked
        ? this.database.upsert('budget_entry', toEntryRow(booked.entry, booked.at), ['id'])
        : { sql: 'DELETE FROM budget_entry WHERE id = ?', params: [id] },
    );
    const sums = [...this.book.sumsToWrite()].map((row) => this.database.upsert('budget_total', { ...row }, ['scope']));
    return [...entries, ...sums];
  }

  end(isWritten: boolean): void {
    if (isWritten) this.book.written(HELD);
    else this.writeSoon();
  }

  /** Reads what is not in memory; anew when all was replaced meanwhile. */
  private async know(id: string | null, scopes: readonly BudgetScope[], keys: readonly string[] = []): Promise<void> {
    await this.forgetReserved();
    for (let replaced; replaced !== this.replaced;) {
      replaced = this.replaced;
      await replaced;
      await this.read(id, scopes, keys);
    }
  }

  private async read(id: string | null, scopes: readonly BudgetScope[], keys: readonly string[]): Promise<void> {
    if (id !== null && !this.book.knows(id)) this.book.learn(id, await this.shared.beginning(prefixOf(id)));
    const unknown = [...scopes.map(({ key }) => key), ...keys].filter((key) => !this.book.knowsSum(key));
    if (unknown.length === 0) return;
    for (const row of await this.shared.sums(unknown)) this.book.learnSum(row);
    for (const scope of scopes) this.book.learnSum(toTotalRow(scope, Date.now()));
  }

  /** Once: what is reserved in the database is of a process that crashed, as there is no other. */
  private forgetReserved(): Promise<void> {
    return (this.opened ??= this.settleReserved().catch((error: unknown) => {
      this.opened = null;
      throw error;
    }));
  }

  private async settleReserved(): Promise<void> {
    for (;;) {
      const entries = await this.shared.expired(Number.MAX_SAFE_INTEGER);
      if (entries.length === 0) return;
      for (const entry of entries) await this.shared.settle(entry, NOTHING, Date.now());
    }
  }

  private writeSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.write().catch((err: unknown) => this.logger.warn({ err }, 'What model calls have used is not written yet'));
    }, WRITTEN_AFTER_MS).unref();
  }

  private async write(): Promise<void> {
    if (!this.book.isWritten) await this.database.commit([]);
  }
}

function isSame(one: BudgetEntry | null, other: BudgetEntry | null): boolean {
  return one?.holder === other?.holder && one?.tokens === other?.tokens && one?.cost === other?.cost;
}
