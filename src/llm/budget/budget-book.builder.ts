import type { Row } from '../../persistence/index.js';
import type { TotalRow } from './budget-row.mapper.js';
import { NOTHING, type Amount, type BudgetEntry } from './budget.types.js';

/** An entry in memory, since when (epoch ms) it is as it is, and whether its amount is in the database's sums: of a reservation never. */
export interface BookedEntry {
  readonly entry: BudgetEntry;
  readonly at: number;
  isWritten: boolean;
}

interface Sum {
  readonly row: TotalRow;
  readonly amount: { tokens: number; cost: number };
  /** How many entries in it are reserved, or not written yet. */
  open: number;
}

type RunEntries = Map<string, BookedEntry>;

/** Entries and sums in memory, and which of them nobody needs to hold any more. */
export class BudgetBook {
  /** By what their ids begin with; what came last, last. */
  private readonly runs = new Map<string, RunEntries>();
  private readonly sums = new Map<string, Sum>();
  private added = 0;

  /** @param most runs and sums that are held when nobody uses them; up to twice as many until they are looked through */
  constructor(private readonly most: number) {}

  knowsSum(key: string): boolean {
    return this.sums.has(key);
  }

  learnSum(row: TotalRow): void {
    const { scope, tokens, cost } = row;
    if (this.knowsSum(scope)) return;
    this.sums.set(scope, { row, amount: { tokens, cost }, open: 0 });
    this.grow();
  }

  /** What counts, reserved or spent. */
  sum(key: string): Amount {
    return { ...this.sums.get(key)!.amount };
  }

  find(id: string): BookedEntry | null {
    return this.runs.get(prefixOf(id))?.get(id) ?? null;
  }

  /** What nobody has settled. */
  reserved(): BudgetEntry[] {
    const entries = this.runs.values().flatMap((run) => run.values().map(({ entry }) => entry));
    return entries.filter(({ expiresAt }) => expiresAt !== null).toArray();
  }

  /** What is settled and not written. */
  unwritten(): BookedEntry[] {
    return [...this.runs.values()].flatMap((run) => [...run.values()]).filter(isUnwritten);
  }

  /** A call of a run that is settled by such an amount, and not written. */
  findUnwritten(runId: string, { tokens, cost }: Amount): BookedEntry | null {
    for (const booked of this.runs.get(`${runId}:`)?.values() ?? []) {
      const { entry } = booked;
      if (isUnwritten(booked) && entry.tokens === tokens && entry.cost === cost) return booked;
    }
    return null;
  }

  add(booked: BookedEntry): void {
    const { entry } = booked;
    const prefix = prefixOf(entry.id);
    const run = this.runs.get(prefix);
    if (run) run.set(entry.id, booked);
    else this.runs.set(prefix, new Map([[entry.id, booked]]));
    this.count(booked, 1);
    this.grow();
  }

  remove(booked: BookedEntry): void {
    const { id } = booked.entry;
    this.runs.get(prefixOf(id))?.delete(id);
    this.count(booked, -1);
  }

  written(booked: BookedEntry): void {
    if (booked.isWritten) return;
    booked.isWritten = true;
    this.change(booked, NOTHING, -1);
  }

  /** As before it was written, which has failed. */
  unwrite(booked: BookedEntry): void {
    if (!booked.isWritten) return;
    booked.isWritten = false;
    this.change(booked, NOTHING, 1);
  }

  /** By how much the sums are raised by an entry; rows are zero but for that. */
  raises({ scopes, tokens, cost }: BudgetEntry): Row[] {
    const rows: Row[] = [];
    if (tokens === 0 && cost === 0) return rows;
    for (const key of scopes) {
      const sum = this.sums.get(key);
      if (sum) rows.push({ ...sum.row, tokens, cost });
    }
    return rows;
  }

  clear(): void {
    this.runs.clear();
    this.sums.clear();
  }

  private grow(): void {
    // Not at once: somebody may have looked just now for what is there.
    if (++this.added % this.most === 0) setImmediate(() => this.letGo());
  }

  private letGo(): void {
    letGo(this.runs, this.most, (run) => !run.values().some(isOpen));
    letGo(this.sums, this.most, ({ open }) => open === 0);
  }

  private count(booked: BookedEntry, sign: 1 | -1): void {
    const { tokens, cost } = booked.entry;
    this.change(booked, { tokens: sign * tokens, cost: sign * cost }, isOpen(booked) ? sign : 0);
  }

  /** The sums that an entry is in; but those whose day is over, and which were deleted. */
  private change({ entry }: BookedEntry, by: Amount, open: -1 | 0 | 1): void {
    for (const key of entry.scopes) {
      const sum = this.sums.get(key);
      if (!sum) continue;
      sum.amount.tokens += by.tokens;
      sum.amount.cost += by.cost;
      sum.open += open;
    }
  }
}

/** A run's entries are held together: `runId:`. */
function prefixOf(id: string): string {
  return id.slice(0, id.indexOf(':') + 1);
}

function isOpen({ isWritten }: BookedEntry): boolean {
  return !isWritten;
}

function isUnwritten({ entry, isWritten }: BookedEntry): boolean {
  return entry.expiresAt === null && !isWritten;
}

function letGo<Value>(from: Map<string, Value>, most: number, isIdle: (value: Value) => boolean): void {
  for (const [key, value] of from) {
    if (from.size <= most) return;
    if (isIdle(value)) from.delete(key);
  }
}
