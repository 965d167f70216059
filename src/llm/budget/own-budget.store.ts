import { AppError, Log } from '../../errors/index.js';
import type { Database } from '../../persistence/index.js';
import { insertAll, type Statement } from '../../persistence/statement/index.js';
import { BudgetLedger, type BookedEntry, type BookedSum } from './budget-ledger.builder.js';
import { runIdOf, runKeys, toTotalRow } from './budget-row.mapper.js';
import { BudgetSumLoader } from './budget-sum.loader.js';
import { BudgetStore, type BudgetRefusal, type Settlement } from './budget.store.js';
import type { JournaledSpending } from './model-budget.js';
import { NOTHING, type Amount, type BudgetEntry, type BudgetScope } from './budget.types.js';
import type { SharedBudgetStore } from './shared-budget.store.js';

/** Maximum idle totals in memory. */
const HELD = 1000;
/** Delay until usage that no journal batch has recorded is written separately, in ms. */
const JOURNALED_WITHIN_MS = 10_000;
const NO_SUMS: readonly BookedSum[] = [];
const RAISE = 'ON CONFLICT (scope) DO UPDATE SET tokens = tokens + excluded.tokens, cost = cost + excluded.cost';

/**
 * Budgets in a database that only this process uses: decides in memory. The batch that journals a call's usage also
 * adds it to the totals; usage without a journal is written separately. Reservations do not survive a crash.
 */
export class OwnBudgetStore extends BudgetStore {
  private readonly logger = new Log(OwnBudgetStore.name);
  private readonly ledger = new BudgetLedger(HELD);
  private readonly loader: BudgetSumLoader;
  private changedAt = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly database: Database,
    private readonly shared: SharedBudgetStore,
  ) {
    super();
    this.loader = new BudgetSumLoader(shared, this.ledger);
  }

  async find(id: string): Promise<BudgetEntry | null> {
    return this.ledger.find({ id, runId: runIdOf(id) })?.entry ?? null;
  }

  async expired(now: number): Promise<BudgetEntry[]> {
    return this.ledger.reserved().filter(({ expiresAt }) => expiresAt! < now);
  }

  sum(scope: BudgetScope): Promise<Amount> {
    return this.withSums([scope], null, ([sum]) => ({ tokens: sum!.tokens, cost: sum!.cost }));
  }

  reserve(
    entry: BudgetEntry,
    before: BudgetEntry | null,
    scopes: readonly BudgetScope[],
    now: number,
  ): BudgetRefusal | null | Promise<BudgetRefusal | null> {
    const sums = this.sumsAtHand(entry, before);
    if (sums) return this.enter(entry, before, scopes, sums, now);
    return this.withSums(scopes, before, (learnt) => this.enter(entry, before, scopes, learnt, now));
  }

  /** Loads the totals if necessary, then calls `use` with them. */
  private async withSums<T>(
    scopes: readonly BudgetScope[],
    before: BudgetEntry | null,
    use: (sums: readonly BookedSum[]) => T | Promise<T>,
  ): Promise<T> {
    const keys = scopes.map(({ key }) => key);
    for (;;) {
      const zeros = scopes.map((scope) => toTotalRow(scope, Date.now()));
      await this.loader.learn(zeros, before ? [...keys, ...before.scopes] : keys);
      const sums = this.ledger.sumsOf(keys);
      // A total may have been evicted meanwhile.
      if (sums) return use(sums);
    }
  }

  private enter(
    entry: BudgetEntry,
    before: BudgetEntry | null,
    scopes: readonly BudgetScope[],
    sums: readonly BookedSum[],
    now: number,
  ): BudgetRefusal | null | Promise<null> {
    const there = this.ledger.find(entry);
    if (!isSame(there?.entry, before)) return { kind: 'taken' };
    const scope = this.ledger.findFull(entry, scopes, sums, there);
    if (scope) return { kind: 'full', scope };
    if (there) this.ledger.remove(there);
    const held = { entry, at: now, isWritten: false, isDurable: false, sums };
    this.ledger.add(held);
    return there?.isWritten ? this.takeBack(there, held) : null;
  }

  /** Subtracts the written amount of an entry that a reservation replaces. */
  private async takeBack(before: BookedEntry, held: BookedEntry): Promise<null> {
    try {
      await this.write(this.raise(before, -1));
      return null;
    } catch (error) {
      this.ledger.remove(held);
      this.ledger.add(before);
      throw error;
    }
  }

  /** No operation: `reserve` loads the totals. */
  async open(): Promise<void> {}

  override onStarted(scopes: readonly BudgetScope[], now: number): void {
    for (const scope of scopes) this.ledger.learnSum(toTotalRow(scope, now), false);
  }

  settle(
    entry: BudgetEntry,
    { tokens, cost }: Amount,
    now: number,
    { id = entry.id, isReported = false }: Settlement = {},
  ): boolean | Promise<boolean> {
    const there = this.findCached(entry);
    if (!there) return false;
    const spent = { ...entry, id, tokens, cost, expiresAt: null };
    if (isSettledAs(there.entry, spent)) return true;
    if (!there.isDurable) return this.put(there, spent, there.sums, now, isReported);
    return this.sumsAgain(there).then((sums) => sums !== null && this.put(there, spent, sums, now, isReported));
  }

  /** Usage that no journal will record is written immediately. */
  private put(
    there: BookedEntry,
    spent: BudgetEntry,
    sums: readonly BookedSum[],
    now: number,
    isReported: boolean,
  ): true | Promise<true> {
    const isNothing = spent.tokens === 0 && spent.cost === 0;
    const settled = { entry: spent, at: now, isWritten: isNothing, isDurable: isNothing, sums };
    this.ledger.replace(there, settled);
    this.changedAt = now;
    if (!isReported) return this.writeAll([settled]).then(() => true);
    this.writeLater();
    return true;
  }

  /**
   * Matches calls by amount, since they settled with the same numbers. Totals of a run that ends are deleted, not
   * increased. Those of a resumed run may be in the database only: such a run may end without a further call.
   */
  override journaled(
    runId: string,
    took: readonly Amount[],
    isOver: boolean,
    isResumed = false,
  ): JournaledSpending | null {
    const reported: BookedEntry[] = [];
    for (const amount of took) {
      const booked = this.ledger.findUnwritten(runId, amount);
      if (!booked) continue;
      booked.isWritten = true;
      reported.push(booked);
    }
    const over = isOver ? this.ledger.sumsOfRun(runId, reported[0]) : NO_SUMS;
    const stored =
      isOver && isResumed ? runKeys(runId) : over.flatMap(({ isStored, scope }) => (isStored ? scope : []));
    if (reported.length === 0 && over.length === 0 && stored.length === 0) return null;
    const statements = reported.flatMap((booked) => this.raise(booked, 1, over));
    statements.push(...stored.map(deleteSum));
    return {
      statements,
      committed: () => {
        for (const booked of reported) this.ledger.reported(booked);
        this.ledger.forgetSums(over);
      },
      discard: () => {
        for (const booked of reported) booked.isWritten = false;
        if (reported.length > 0) this.writeLater();
      },
    };
  }

  prune(now: number): Promise<void> {
    return this.shared.prune(now);
  }

  replaceAll(sums: ReadonlyMap<BudgetScope, Amount>, since: number, now: number): Promise<boolean> {
    return this.loader.replacing(async () => {
      const isReserved = this.ledger.reserved().some(({ expiresAt }) => expiresAt! >= now);
      const isQuiet = this.changedAt < since && !isReserved && !this.ledger.hasUnwritten;
      return isQuiet && this.shared.replaceAll(sums, since, now);
    });
  }

  /** The totals, if they are in memory; `null` if they must be loaded. */
  private sumsAtHand({ scopes }: BudgetEntry, before: BudgetEntry | null): readonly BookedSum[] | null {
    if (!this.loader.isReady) return null;
    return before && !this.ledger.sumsOf(before.scopes) ? null : this.ledger.sumsOf(scopes);
  }

  private findCached(entry: BudgetEntry): BookedEntry | undefined {
    const there = this.ledger.find(entry);
    return isSame(there?.entry, entry) ? there : undefined;
  }

  /**
   * Loads the totals of an entry again: they may have been evicted after its reservation expired.
   * @returns `null` if the entry was changed meanwhile
   */
  private async sumsAgain(booked: BookedEntry): Promise<readonly BookedSum[] | null> {
    const { entry, sums } = booked;
    await this.loader.learn(
      sums.map((sum) => ({ ...sum, ...NOTHING })),
      entry.scopes,
    );
    return this.ledger.find(entry) === booked ? this.ledger.sumsOf(entry.scopes) : null;
  }

  private writeLater(): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      const before = Date.now() - JOURNALED_WITHIN_MS;
      const unwritten = this.ledger.unwritten();
      if (unwritten.length > 0) this.writeLater();
      this.writeAll(unwritten.filter(({ at }) => at <= before)).catch((err: unknown) => {
        if (!isClosed(err)) this.logger.warn({ err }, 'What model calls have used is not written yet');
      });
    }, JOURNALED_WITHIN_MS).unref();
  }

  /** Retries later after a failure. */
  private async writeAll(settled: readonly BookedEntry[]): Promise<void> {
    const unwritten = settled.filter(({ isWritten }) => !isWritten);
    const statements = unwritten.flatMap((booked) => this.raise(booked));
    for (const booked of unwritten) booked.isWritten = true;
    try {
      await this.write(statements);
      for (const booked of unwritten) this.ledger.arrived(booked);
    } catch (error) {
      for (const booked of unwritten) booked.isWritten = false;
      if (!isClosed(error)) this.writeLater();
      throw error;
    }
  }

  private async write(statements: readonly Statement[]): Promise<void> {
    if (statements.length > 0) await this.database.commit(statements);
  }

  /** Statements that add an entry to its totals, or subtract it. @param but totals to leave out */
  private raise(booked: BookedEntry, sign: 1 | -1 = 1, but: readonly BookedSum[] = NO_SUMS): Statement[] {
    const { tokens, cost } = booked.entry;
    const rows = this.ledger.raises(booked, { tokens: sign * tokens, cost: sign * cost }, but);
    return rows.length === 0 ? [] : [insertAll('budget_total', rows, RAISE)];
  }
}

function deleteSum(scope: string): Statement {
  return { sql: 'DELETE FROM budget_total WHERE scope = ?', params: [scope] };
}

function isSame(one: BudgetEntry | null | undefined, other: BudgetEntry | null): boolean {
  return one?.holder === other?.holder && one?.tokens === other?.tokens && one?.cost === other?.cost;
}

/** Whether a settlement repeats an earlier one. */
function isSettledAs(there: BudgetEntry, { id, tokens, cost }: BudgetEntry): boolean {
  return there.expiresAt === null && there.id === id && there.tokens === tokens && there.cost === cost;
}

/** Whether the application has closed its database. */
function isClosed(error: unknown): boolean {
  return error instanceof AppError && error.code === 'SHUTTING_DOWN';
}
