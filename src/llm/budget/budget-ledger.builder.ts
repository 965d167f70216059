import type { Row } from '../../persistence/statement/index.js';
import { runKeys, type TotalRow } from './budget-row.mapper.js';
import { fits } from './model-budget.js';
import { NOTHING, type Amount, type BudgetEntry, type BudgetScope } from './budget.types.js';

/** The total of one budget key: reserved and spent amounts. */
export interface BookedSum extends TotalRow {
  tokens: number;
  cost: number;
  /** Number of its entries that are reserved or not durable yet. */
  open: number;
  /** Whether the database has, or may have, a row for it. */
  isStored: boolean;
  /** Whether its run has ended; the database then needs no row for it. */
  isOver: boolean;
}

/** An entry in memory. Only its `BudgetLedger` changes it. */
export interface BookedEntry {
  readonly entry: BudgetEntry;
  /** Time of its last change, epoch ms. */
  readonly at: number;
  /** Whether its amount is in the totals of the database or in a pending batch; always false for a reservation. */
  isWritten: boolean;
  /** Whether that batch has committed. */
  isDurable: boolean;
  /** Totals that include it. They stay in memory until it is durable. */
  readonly sums: readonly BookedSum[];
}

/** Entries and totals in memory, with eviction of idle ones. */
export class BudgetLedger {
  /** Entries by run id, oldest run first. */
  private readonly runs = new Map<string, BookedEntry[]>();
  private readonly sums = new Map<string, BookedSum>();
  private added = 0;

  /**
   * @param most maximum idle totals; idle runs are capped at a quarter of it. Eviction runs once per `most / 4`
   * additions.
   */
  constructor(private readonly most: number) {}

  /** The totals of these keys; `null` if one of them is not in memory. */
  sumsOf(keys: readonly string[]): readonly BookedSum[] | null {
    const sums = this.known(keys);
    return sums.length === keys.length ? sums : null;
  }

  unknown(keys: readonly string[]): string[] {
    return keys.filter((key) => !this.sums.has(key));
  }

  learnSum({ scope, tenant, tokens, cost, kept_until }: TotalRow, isStored: boolean): void {
    if (this.sums.has(scope)) return;
    this.sums.set(scope, { scope, tenant, tokens, cost, kept_until, open: 0, isStored, isOver: false });
    this.grow();
  }

  /** The totals in memory that belong to one run only. @param call any call of the run: it is in all of its totals */
  sumsOfRun(runId: string, call: BookedEntry | undefined): readonly BookedSum[] {
    if (this.sums.size === 0) return [];
    const keys = runKeys(runId);
    return call ? call.sums.filter(({ scope }) => keys.includes(scope)) : this.known(keys);
  }

  /** Drops the totals of a run that has ended. A total with open entries stays until they are durable. */
  forgetSums(sums: readonly BookedSum[]): void {
    for (const sum of sums) {
      sum.isOver = true;
      if (sum.open === 0) this.sums.delete(sum.scope);
    }
  }

  find({ id, runId }: Pick<BudgetEntry, 'id' | 'runId'>): BookedEntry | undefined {
    const run = this.runs.get(runId);
    if (run) for (const booked of run) if (booked.entry.id === id) return booked;
    return undefined;
  }

  /** Entries that are not settled. */
  reserved(): BudgetEntry[] {
    const entries = this.all().map(({ entry }) => entry);
    return entries.filter(({ expiresAt }) => expiresAt !== null);
  }

  /** Entries that are settled and not written. */
  unwritten(): BookedEntry[] {
    return this.all().filter(isUnwritten);
  }

  /** Whether an entry is settled and possibly not in the database yet. */
  get hasUnwritten(): boolean {
    return this.all().some(({ entry, isDurable }) => entry.expiresAt === null && !isDurable);
  }

  /** Finds a settled, unwritten call of a run by its amount. */
  findUnwritten(runId: string, { tokens, cost }: Amount): BookedEntry | undefined {
    const run = this.runs.get(runId);
    if (!run) return undefined;
    for (const booked of run) {
      const { entry } = booked;
      if (entry.tokens === tokens && entry.cost === cost && isUnwritten(booked)) return booked;
    }
    return undefined;
  }

  /**
   * Finds the first budget without room for an entry.
   * @param sums totals of the scopes, in the same order
   * @param before entry that this one replaces
   */
  findFull(
    entry: BudgetEntry,
    scopes: readonly BudgetScope[],
    sums: readonly BookedSum[],
    before: BookedEntry | undefined,
  ): BudgetScope | undefined {
    return scopes.find(({ key, limit }, at) => {
      const { tokens, cost } = sums[at]!;
      const own = before?.entry.scopes.includes(key) ? before.entry : NOTHING;
      return !fits({ tokens: tokens - own.tokens, cost: cost - own.cost }, entry, limit);
    });
  }

  add(booked: BookedEntry): void {
    const { entry } = booked;
    const run = this.runs.get(entry.runId);
    if (run) run.push(booked);
    else this.runs.set(entry.runId, [booked]);
    change(this.sumsIn(booked), entry, 1, booked.isDurable ? 0 : 1);
    this.grow();
  }

  remove(booked: BookedEntry): void {
    this.drop(booked);
    change(this.sumsIn(booked), booked.entry, -1, booked.isDurable ? 0 : -1);
  }

  /** Replaces an entry by one with another amount. */
  replace(before: BookedEntry, booked: BookedEntry): void {
    const run = this.runs.get(booked.entry.runId);
    const at = run?.indexOf(before) ?? -1;
    if (!run || at < 0 || before.isDurable || booked.isDurable) {
      this.remove(before);
      this.add(booked);
      return;
    }
    run[at] = booked;
    const { tokens, cost } = before.entry;
    const more = { tokens: booked.entry.tokens - tokens, cost: booked.entry.cost - cost };
    change(booked.sums, more, 1, 0);
  }

  /** Marks an entry as durable, so that its totals can be evicted. */
  arrived(booked: BookedEntry): void {
    if (booked.isDurable || this.find(booked.entry) !== booked) return;
    booked.isDurable = true;
    change(booked.sums, NOTHING, 1, -1);
  }

  /** Drops an entry that is durable with its step: a replay does not repeat the step. */
  reported(booked: BookedEntry): void {
    if (this.drop(booked)) change(booked.sums, NOTHING, 1, -1);
  }

  /**
   * Rows that add the amount of an entry to its totals; each row contains only the increment.
   * @param but totals to leave out
   */
  raises(booked: BookedEntry, { tokens, cost }: Amount, but: readonly BookedSum[]): Row[] {
    const rows: Row[] = [];
    if (tokens === 0 && cost === 0) return rows;
    for (const sum of this.sumsIn(booked)) {
      if (sum.isOver || but.includes(sum)) continue;
      sum.isStored = true;
      rows.push({ scope: sum.scope, tenant: sum.tenant, tokens, cost, kept_until: sum.kept_until });
    }
    return rows;
  }

  clear(): void {
    this.runs.clear();
    this.sums.clear();
  }

  /** @returns whether the entry was present */
  private drop(booked: BookedEntry): boolean {
    const { runId } = booked.entry;
    const run = this.runs.get(runId);
    const at = run?.indexOf(booked) ?? -1;
    if (!run || at < 0) return false;
    if (run.length === 1) this.runs.delete(runId);
    else run.splice(at, 1);
    return true;
  }

  /** Totals of a durable entry may have been evicted and loaded again. */
  private sumsIn({ entry, isDurable, sums }: BookedEntry): readonly BookedSum[] {
    return isDurable ? this.known(entry.scopes) : sums;
  }

  /** Without totals that are not in memory, such as deleted totals of past days. */
  private known(keys: readonly string[]): BookedSum[] {
    const sums: BookedSum[] = [];
    for (const key of keys) {
      const sum = this.sums.get(key);
      if (sum) sums.push(sum);
    }
    return sums;
  }

  private all(): BookedEntry[] {
    return [...this.runs.values()].flat();
  }

  private grow(): void {
    // Deferred: a caller in this turn of the event loop may use totals that it has just found.
    if (++this.added % (this.most / 4) === 0) setImmediate(() => this.evictIdle());
  }

  private evictIdle(): void {
    evict(this.runs, this.most / 4, (run) => run.every(({ isDurable }) => isDurable));
    evict(this.sums, this.most, ({ open }) => open === 0);
  }
}

function isUnwritten({ entry, isWritten }: BookedEntry): boolean {
  return entry.expiresAt === null && !isWritten;
}

function change(sums: readonly BookedSum[], { tokens, cost }: Amount, sign: 1 | -1, open: -1 | 0 | 1): void {
  for (const sum of sums) {
    sum.tokens += sign * tokens;
    sum.cost += sign * cost;
    sum.open += open;
  }
}

function evict<Value>(from: Map<string, Value>, most: number, isIdle: (value: Value) => boolean): void {
  for (const [key, value] of from) {
    if (from.size <= most) return;
    if (isIdle(value)) from.delete(key);
  }
}
