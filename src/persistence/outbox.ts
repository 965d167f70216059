import { AppError, messageOf } from '../errors/index.js';
import { RecurringWork } from '../kernel/index.js';
import type { Database } from './database.js';
import { insert } from './statement/statement.factory.js';
import type { Row, SqlValue, Statement } from './statement/statement.types.js';
import { KeyedQueue } from './keyed-queue.js';

/** Values for `column IN (…)`. */
export interface InList {
  /** `?, ?, …` */
  readonly marks: string;
  readonly params: readonly SqlValue[];
  /** Number of different values. */
  readonly size: number;
}

/** Maximum values of one list. */
const MAX_VALUES = 256;

/**
 * Splits different values into lists for statements. The last value is repeated until the length is a power of two:
 * statements are prepared per text, so this keeps the number of texts small.
 */
export function inLists(values: readonly SqlValue[]): InList[] {
  const lists: InList[] = [];
  for (let at = 0; at < values.length; at += MAX_VALUES) {
    const some = values.slice(at, at + MAX_VALUES);
    const length = 2 ** Math.ceil(Math.log2(some.length));
    const params = Array.from({ length }, (_, i) => some[Math.min(i, some.length - 1)]!);
    lists.push({ marks: params.map(() => '?').join(', '), params, size: some.length });
  }
  return lists;
}

/** The table of an outbox. It also has the column `created_at` (epoch ms). */
export interface OutboxTable<Owner extends Row> {
  readonly name: string;
  /** Column that identifies an entry. */
  readonly id: string;
  /** Columns that identify the owner of an entry, for example a session. */
  readonly owner: readonly (keyof Owner & string)[];
  /** SQL for ORDER BY: the commit order of an owner's entries. */
  readonly order: string;
}

/**
 * A transactional outbox: changes of another store that are committed with the journal's batch and applied later. A
 * subclass encodes its entries.
 */
export abstract class Outbox<Owner extends Row, Entry> {
  private readonly selectPending: string;

  constructor(
    private readonly database: Database,
    private readonly table: OutboxTable<Owner>,
  ) {
    const condition = table.owner.map((column) => `${column} = ?`).join(' AND ');
    this.selectPending = `SELECT * FROM ${table.name} WHERE ${condition} ORDER BY ${table.order}`;
  }

  /** An owner's entries, in commit order. */
  async pending(owner: Owner): Promise<Entry[]> {
    const params = this.table.owner.map((column) => owner[column]!);
    const rows = await this.database.query<Row>(this.selectPending, params);
    return rows.map((row) => this.read(row));
  }

  /** As `Database.onceOpen`. */
  onceOpen(work: () => void): Promise<void> {
    return this.database.onceOpen(work);
  }

  /** Deletes applied entries. */
  async done(ids: readonly SqlValue[]): Promise<void> {
    const { name, id } = this.table;
    const deletes = inLists(ids).map(({ marks, params }) => ({
      sql: `DELETE FROM ${name} WHERE ${id} IN (${marks})`,
      params,
    }));
    if (deletes.length > 0) await this.database.commit(deletes);
  }

  /**
   * Owners with entries that were added at or before a time, the oldest first.
   * @param before epoch ms
   * @param where required values of further columns
   */
  late(before: number, limit: number, where: Row = {}): Promise<Owner[]> {
    const { name, owner } = this.table;
    const conditions = ['created_at <= ?', ...Object.keys(where).map((column) => `${column} = ?`)];
    const columns = owner.join(', ');
    return this.database.query<Owner>(
      `SELECT ${columns}, MIN(created_at) AS since FROM ${name} WHERE ${conditions.join(' AND ')}
        GROUP BY ${columns} ORDER BY since LIMIT ?`,
      [before, ...Object.values(where), limit],
    );
  }

  nameOf(owner: Owner): string {
    return JSON.stringify(this.table.owner.map((column) => owner[column]));
  }

  /** The statement that adds an entry. @param row all columns except `created_at` and numbers by the database */
  protected insert(row: Row): Statement {
    return insert(this.table.name, { ...row, created_at: Date.now() });
  }

  /** Decodes an entry. @param row all columns */
  protected abstract read(row: Row): Entry;
}

export interface OutboxSweeps {
  readonly everyMs: number;
  /** Minimum age of the entries, in ms. */
  readonly ageMs: number;
  /** Receives each message once: again only if a sweep without it was in between. */
  readonly warn: (message: string) => void;
}

/** Owners that one page of a sweep settles concurrently. */
const PAGE = 100;

/** Applies the entries of an outbox: those of one owner sequentially, on request and by periodic sweeps. */
export class OutboxRelay<Owner extends Row, Entry> {
  private readonly queue = new KeyedQueue();
  private sweeps: RecurringWork | undefined;
  private warnings: ReadonlySet<string> = new Set();

  /** @param apply applies all pending entries of an owner in order, and removes the applied ones by `outbox.done` */
  constructor(
    private readonly outbox: Outbox<Owner, Entry>,
    private readonly apply: (owner: Owner, pending: readonly Entry[]) => Promise<void>,
  ) {}

  /** Applies an owner's pending entries. Rejects with the store's error; the entries then stay pending. */
  settle(owner: Owner): Promise<void> {
    return this.queue.next(this.outbox.nameOf(owner), async () => {
      const pending = await this.outbox.pending(owner);
      if (pending.length > 0) await this.apply(owner, pending);
    });
  }

  /**
   * Settles all owners with late entries, each once: entries that remain or are added meanwhile are left to the next
   * sweep. A failing owner does not block others. The sweep ends early if the store is unavailable.
   * @param before epoch ms
   * @param where as `Outbox.late`
   * @returns errors of failed owners
   */
  async settleLate(before: number, where?: Row): Promise<unknown[]> {
    const settled = new Set<string>();
    /** Settled owners that still have entries. */
    const remaining = new Set<string>();
    const errors: unknown[] = [];
    for (;;) {
      const limit = PAGE + remaining.size;
      const late = await this.outbox.late(before, limit, where);
      const next = late.filter((owner) => !settled.has(this.outbox.nameOf(owner)));
      if (next.length === 0 && late.length < limit) return errors;
      const failures = await this.settleAll(next);
      errors.push(...failures);
      if (next.length > 0 && failures.length === next.length && !failures.every(isOfOwner)) return errors;
      for (const name of late.map((owner) => this.outbox.nameOf(owner))) {
        if (settled.has(name)) remaining.add(name);
        else settled.add(name);
      }
    }
  }

  /** Starts periodic sweeps, when the database is open. */
  async start({ everyMs, ageMs, warn }: OutboxSweeps): Promise<void> {
    const sweeps = new RecurringWork({
      work: async () => {
        this.report(await this.settleLate(Date.now() - ageMs), warn);
        return everyMs;
      },
      onFailure: (error) => this.report([error], warn),
      retryMs: everyMs,
    });
    this.sweeps = sweeps;
    await this.outbox.onceOpen(() => sweeps.start(everyMs));
  }

  /** Resolves after the present sweep. */
  async stop(): Promise<void> {
    await this.sweeps?.stop();
  }

  /** @returns errors of failed owners */
  private async settleAll(owners: readonly Owner[]): Promise<unknown[]> {
    const outcomes = await Promise.allSettled(owners.map((owner) => this.settle(owner)));
    return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  }

  private report(errors: readonly unknown[], warn: OutboxSweeps['warn']): void {
    const messages = new Set(errors.map(messageOf));
    for (const message of messages) if (!this.warnings.has(message)) warn(message);
    this.warnings = messages;
  }
}

/** Whether an error concerns its owner only, for example damaged data. */
function isOfOwner(error: unknown): boolean {
  return error instanceof AppError && !error.isRetryable;
}
