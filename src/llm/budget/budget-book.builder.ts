import type { Row } from '../../persistence/index.js';
import { runKeys, type TotalRow } from './budget-row.mapper.js';
import { fits } from './budget-scope.policy.js';
import { NOTHING, type Amount, type BudgetEntry, type BudgetScope } from './budget.types.js';

/** What counts under a key, reserved or spent. */
export interface BookedSum extends TotalRow {
  tokens: number;
  cost: number;
  /** How many entries in it are reserved, or not durable yet. */
  open: number;
  /** Whether the database has a row of it, or may have. */
  isStored: boolean;
  /** Whether it is of a run that is over: the database has no use for it. */
  isOver: boolean;
}

/** An entry in memory, which its book alone changes. */
export interface BookedEntry {
  readonly entry: BudgetEntry;
  /** Since when it is as it is, epoch ms. */
  readonly at: number;
  /** Whether its amount is in the database's sums, or on its way there: of a reservation never. */
  isWritten: boolean;
  /** Whether it has arrived. */
  isDurable: boolean;
  /** Those that it is in, which are held as long as it is not durable. */
  readonly sums: readonly BookedSum[];
}

/** Entries and sums in memory, and which of them nobody needs to hold any more. */
export class BudgetBook {
  /** By their runs; what came last, last. */
  private readonly runs = new Map<string, BookedEntry[]>();
  private readonly sums = new Map<string, BookedSum>();
  private added = 0;

  /** @param most sums that are held when nobody uses them, and for each four of them a run; a quarter more until they are looked through */
  constructor(private readonly most: number) {}

  /** What counts under each of these keys; `null` when some are not known here. */
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

  /** What counts in a run alone, as far as it is known here. @param call one of its calls, which is in all of them */
  sumsOfRun(runId: string, call: BookedEntry | undefined): readonly BookedSum[] {
    if (this.sums.size === 0) return [];
    const keys = runKeys(runId);
    return call ? call.sums.filter(({ scope }) => keys.includes(scope)) : this.known(keys);
  }

  /** Nothing counts in these any more but what comes late. */
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

  /** What nobody has settled. */
  reserved(): BudgetEntry[] {
    const entries = this.all().map(({ entry }) => entry);
    return entries.filter(({ expiresAt }) => expiresAt !== null);
  }

  /** What is settled and not written. */
  unwritten(): BookedEntry[] {
    return this.all().filter(isUnwritten);
  }

  /** Whether something is settled that may not be in the database yet. */
  get hasUnwritten(): boolean {
    return this.all().some(({ entry, isDurable }) => entry.expiresAt === null && !isDurable);
  }

  /** A call of a run that is settled by such an amount, and not written. */
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
   * @param sums those of its scopes
   * @param before what goes when it comes
   * @returns the first of its scopes that has no room for it
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

  /** Another amount in an entry's place. */
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

  /** It is durable: its sums need not be held for it any more. */
  arrived(booked: BookedEntry): void {
    if (booked.isDurable || this.find(booked.entry) !== booked) return;
    booked.isDurable = true;
    change(booked.sums, NOTHING, 1, -1);
  }

  /** It is durable with its step, which nobody asks for again: what it was need not be known any more. */
  told(booked: BookedEntry): void {
    if (this.drop(booked)) change(booked.sums, NOTHING, 1, -1);
  }

  /**
   * By how much the sums of an entry are raised; rows are zero but for that.
   * @param but those that are not
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

  /** @returns whether it was there */
  private drop(booked: BookedEntry): boolean {
    const { runId } = booked.entry;
    const run = this.runs.get(runId);
    const at = run?.indexOf(booked) ?? -1;
    if (!run || at < 0) return false;
    if (run.length === 1) this.runs.delete(runId);
    else run.splice(at, 1);
    return true;
  }

  /** Of what is durable they may have been let go, and learnt anew. */
  private sumsIn({ entry, isDurable, sums }: BookedEntry): readonly BookedSum[] {
    return isDurable ? this.known(entry.scopes) : sums;
  }

  /** But those whose day is over, and which were deleted. */
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
    // Not at once: somebody may have looked just now for what is there.
    if (++this.added % (this.most / 4) === 0) setImmediate(() => this.letGo());
  }

  private letGo(): void {
    letGo(this.runs, this.most / 4, (run) => run.every(({ isDurable }) => isDurable));
    letGo(this.sums, this.most, ({ open }) => open === 0);
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

function letGo<Value>(from: Map<string, Value>, most: number, isIdle: (value: Value) => boolean): void {
  for (const [key, value] of from) {
    if (from.size <= most) return;
    if (isIdle(value)) from.delete(key);
  }
}
