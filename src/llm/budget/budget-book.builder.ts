import type { TotalRow } from './budget-row.mapper.js';
import { NOTHING, type Amount, type BudgetEntry } from './budget.types.js';

/** A settled entry and when it was settled (epoch ms), as it is to be written; `null` when it is gone. */
export type BookedEntry = { readonly entry: BudgetEntry; readonly at: number } | null;

interface Sum {
  readonly row: TotalRow;
  /** By entries that are settled: what is written. */
  spent: Amount;
  /** By those that are not. */
  reserved: Amount;
  /** How many these are. */
  open: number;
}

type RunEntries = Map<string, { readonly entry: BudgetEntry; readonly at: number }>;

/** Entries and sums in memory, which of them have changed, and which nobody needs to hold any more. */
export class BudgetBook {
  /** By what their ids begin with; used last, last. */
  private readonly runs = new Map<string, RunEntries>();
  private readonly sums = new Map<string, Sum>();
  private readonly changedEntries = new Set<string>();
  private readonly changedSums = new Set<string>();

  get isWritten(): boolean {
    return this.changedEntries.size === 0 && this.changedSums.size === 0;
  }

  knows(id: string): boolean {
    return this.runs.has(prefixOf(id));
  }

  /** @param entries all that there are with ids that begin as this one */
  learn(id: string, entries: readonly BudgetEntry[]): void {
    if (this.knows(id)) return;
    this.runs.set(prefixOf(id), new Map(entries.map((entry) => [entry.id, { entry, at: 0 }])));
  }

  knowsSum(key: string): boolean {
    return this.sums.has(key);
  }

  learnSum(row: TotalRow): void {
    if (this.knowsSum(row.scope)) return;
    this.sums.set(row.scope, { row, spent: row, reserved: NOTHING, open: 0 });
  }

  find(id: string): BudgetEntry | null {
    return this.runs.get(prefixOf(id))?.get(id)?.entry ?? null;
  }

  /** What counts, reserved or spent. */
  sum(key: string): Amount {
    const { spent, reserved } = this.sums.get(key)!;
    return plus(spent, reserved, 1);
  }

  /** What nobody has settled. */
  reserved(): BudgetEntry[] {
    const entries = this.runs.values().flatMap((run) => run.values().map(({ entry }) => entry));
    return entries.filter(({ expiresAt }) => expiresAt !== null).toArray();
  }

  /** @param at epoch ms */
  add(entry: BudgetEntry, at: number): void {
    const prefix = prefixOf(entry.id);
    const run: RunEntries = this.runs.get(prefix) ?? new Map();
    run.set(entry.id, { entry, at });
    this.runs.delete(prefix);
    this.runs.set(prefix, run);
    this.count(entry, 1);
  }

  remove(entry: BudgetEntry): void {
    this.runs.get(prefixOf(entry.id))?.delete(entry.id);
    this.count(entry, -1);
  }

  /** What is to be written: reservations are not. */
  *entriesToWrite(): Generator<readonly [id: string, entry: BookedEntry], void> {
    for (const id of this.changedEntries) {
      const booked = this.runs.get(prefixOf(id))?.get(id);
      yield [id, booked?.entry.expiresAt === null ? booked : null];
    }
  }

  *sumsToWrite(): Generator<TotalRow, void> {
    for (const key of this.changedSums) {
      const { row, spent } = this.sums.get(key)!;
      yield { ...row, tokens: spent.tokens, cost: spent.cost };
    }
  }

  /** All of it is. Lets go of what was used longest ago, beyond so many runs and sums. */
  written(most: number): void {
    this.changedEntries.clear();
    this.changedSums.clear();
    letGo(this.runs, most, (run) => run.values().every(({ entry }) => entry.expiresAt === null));
    letGo(this.sums, most, ({ open }) => open === 0);
  }

  clear(): void {
    this.runs.clear();
    this.sums.clear();
    this.changedEntries.clear();
    this.changedSums.clear();
  }

  private count(entry: BudgetEntry, sign: 1 | -1): void {
    const isSettled = entry.expiresAt === null;
    if (isSettled) this.changedEntries.add(entry.id);
    for (const key of entry.scopes) {
      const sum = this.sums.get(key);
      // Its day is over, and it was deleted.
      if (!sum) continue;
      this.sums.delete(key);
      this.sums.set(key, sum);
      if (isSettled) {
        sum.spent = plus(sum.spent, entry, sign);
        this.changedSums.add(key);
      } else {
        sum.reserved = plus(sum.reserved, entry, sign);
        sum.open += sign;
      }
    }
  }
}

/** A run's entries are known together: `runId:`. */
export function prefixOf(id: string): string {
  return id.slice(0, id.indexOf(':') + 1);
}

function plus(one: Amount, other: Amount, sign: 1 | -1): Amount {
  return { tokens: one.tokens + sign * other.tokens, cost: one.cost + sign * other.cost };
}

function letGo<Value>(from: Map<string, Value>, most: number, isIdle: (value: Value) => boolean): void {
  for (const [key, value] of from) {
    if (from.size <= most) return;
    if (isIdle(value)) from.delete(key);
  }
}
