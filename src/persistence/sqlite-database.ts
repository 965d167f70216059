import { Logger } from '@nestjs/common';
import { commitRefused } from './commit-refused.error.js';
import { Database } from './database.js';
import { PURGED_BYTES, purgeFile } from './sqlite-purge.executor.js';
import { SqliteLog } from './sqlite-log.client.js';
import type { SqliteHandle, SqliteStatement } from './sqlite-handle.types.js';
import { toSteadySql } from './steady-sql.mapper.js';
import type { CommitOptions, SqlValue, Statement } from './statement.types.js';

/** Turns of the event loop, at most, in which batches come together. */
const GATHERED_TURNS = 8;

interface WaitingBatch {
  readonly batch: readonly Statement[];
  /** Whether it resolves as soon as it is written. */
  readonly isEarly: boolean;
  resolve(): void;
  reject(error: unknown): void;
}

/** Why batches of a group were refused. */
type Refusals = ReadonlyMap<WaitingBatch, unknown>;

const NONE: Refusals = new Map();

/**
 * SQLite with group commit: batches that wait in the same turns of the event loop share one transaction and so one fsync, which
 * is waited for beside the event loop; those that come meanwhile are the next group. Only when one of them is refused is
 * each applied in a savepoint of its own. The handle is TypeORM's; it is never left inside a transaction, so TypeORM's
 * single statements run beside it.
 */
export class SqliteDatabase extends Database {
  readonly dialect = 'sqlite';
  override readonly isOwn = true;
  override readonly keepsOrder = true;
  private readonly logger = new Logger(SqliteDatabase.name);
  private waiting: WaitingBatch[] = [];
  private isGathering = false;
  private patience: NodeJS.Timeout | null = null;
  private lastGroup = 0;
  /** While a group that is written is being made durable. */
  private syncing: Promise<void> | null = null;
  /** Whether a group waits for that. */
  private isDue = false;
  private readonly prepared = new Map<string, SqliteStatement>();

  /**
   * @param log of its file, if it has one
   * @param purgedBytes the largest file that `purge` writes anew
   */
  constructor(
    private readonly handle: SqliteHandle,
    private readonly log: SqliteLog | null = SqliteLog.of(handle),
    private readonly purgedBytes = PURGED_BYTES,
  ) {
    super();
  }

  commit(batch: readonly Statement[], { waitsMs = 0, isEarly = false }: CommitOptions = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      this.assertOpen();
      this.waiting.push({ batch, isEarly, resolve, reject });
      if (waitsMs > 0) this.patience ??= setTimeout(() => this.beginGathering(), waitsMs);
      else this.beginGathering();
    });
  }

  private beginGathering(): void {
    if (this.isGathering) return;
    this.isGathering = true;
    // A write takes the time of all: what can go out now, such as a model's request, goes first.
    process.nextTick(() => setImmediate(() => this.gather(0, 0)));
  }

  /**
   * Waits for more batches as long as each turn of the event loop brings some, and others have come together lately: each page
   * that a group of them touches is written once, and a commit touches some fifty pages whether it is of five runs or of
   * twenty. One that comes alone does not wait.
   */
  private gather(turns: number, before: number): void {
    const { length } = this.waiting;
    const isAlone = length === 1 && this.lastGroup <= 1;
    if (isAlone || length === before || turns === GATHERED_TURNS) this.flush();
    else setImmediate(() => this.gather(turns + 1, length));
  }

  /** What it has seen is durable when it resolves; once the disk has failed, nothing can be said of that. */
  async query<Row>(sql: string, params: readonly SqlValue[] = []): Promise<Row[]> {
    this.assertOpen();
    this.log?.check();
    const rows = this.prepare(sql).all(...params) as Row[];
    if (this.syncing) await this.syncing;
    return rows;
  }

  async ping(): Promise<void> {
    await this.query('SELECT 1');
  }

  /** What cannot be done now is done when the file is opened next, or purged again. */
  override async purge(): Promise<void> {
    await this.drain();
    const { left } = purgeFile(this.handle, this.purgedBytes);
    if (left !== null) this.logger.warn(left);
  }

  override async close(): Promise<void> {
    await super.close();
    this.log?.close();
  }

  protected override async drain(): Promise<void> {
    while (this.syncing || this.waiting.length > 0) {
      this.flush();
      await this.syncing?.catch(() => undefined);
    }
  }

  /** Commits what still waits, or has it committed as soon as the disk is free. */
  flush(): void {
    if (this.syncing) {
      this.isDue = true;
      return;
    }
    const { waiting } = this;
    clearTimeout(this.patience ?? undefined);
    this.patience = null;
    this.isGathering = false;
    if (waiting.length === 0) return;
    this.lastGroup = waiting.length;
    this.waiting = [];
    const refusals = this.commitGroup(waiting);
    if (this.log && refusals.size < waiting.length) void this.settleOnceDurable(this.log, waiting, refusals);
    else settle(waiting, refusals);
  }

  private async settleOnceDurable(log: SqliteLog, waiting: readonly WaitingBatch[], refusals: Refusals): Promise<void> {
    this.syncing = log.sync();
    const patient = settleEarly(waiting, refusals);
    try {
      await this.syncing;
      settle(patient, refusals);
    } catch (error) {
      settle(patient, new Map([...refuse(patient, error), ...refusals]));
    }
    this.syncing = null;
    if (this.isDue) setImmediate(() => this.gather(0, 0));
    this.isDue = false;
  }

  private commitGroup(waiting: readonly WaitingBatch[]): Refusals {
    try {
      this.commitAll(waiting);
      return NONE;
    } catch (error) {
      return waiting.length > 1 ? this.commitEach(waiting) : refuse(waiting, error);
    }
  }

  /** All of them in one transaction, without the price of savepoints: a refused batch is rare. */
  private commitAll(waiting: readonly WaitingBatch[]): void {
    this.transaction(() => {
      for (const { batch } of waiting) this.apply(batch);
    });
  }

  /** All of them in one transaction, each in a savepoint, so that a refused one leaves nothing behind. */
  private commitEach(waiting: readonly WaitingBatch[]): Refusals {
    const refusals = new Map<WaitingBatch, unknown>();
    try {
      this.transaction(() => {
        for (const one of waiting) this.applyApart(one, refusals);
      });
      return refusals;
    } catch (error) {
      return refuse(waiting, error);
    }
  }

  private applyApart(one: WaitingBatch, refusals: Map<WaitingBatch, unknown>): void {
    this.run('SAVEPOINT batch');
    try {
      this.apply(one.batch);
    } catch (error) {
      // Disk full, I/O error: SQLite has ended the whole transaction itself.
      if (!this.handle.inTransaction) throw error;
      this.run('ROLLBACK TO batch');
      refusals.set(one, error);
    }
    this.run('RELEASE batch');
  }

  private transaction(work: () => void): void {
    if (this.log) this.log.write(() => this.transact(work));
    else this.transact(work);
  }

  private transact(work: () => void): void {
    this.run('BEGIN IMMEDIATE');
    try {
      work();
      this.run('COMMIT');
    } catch (error) {
      if (this.handle.inTransaction) this.run('ROLLBACK');
      throw error;
    }
  }

  private apply(batch: readonly Statement[]): void {
    for (const [at, { sql, params, rows }] of batch.entries()) {
      let changes: number;
      try {
        changes = this.prepare(sql).run(...params).changes;
      } catch (error) {
        throw isUniqueViolation(error) ? commitRefused('unique', at, sql, error) : error;
      }
      if (rows !== undefined && rows !== changes) throw commitRefused('rows', at, sql);
    }
  }

  private run(sql: string): void {
    this.prepare(sql).run();
  }

  private prepare(sql: string): SqliteStatement {
    let statement = this.prepared.get(sql);
    if (!statement) this.prepared.set(sql, (statement = this.handle.prepare(toSteadySql(sql))));
    return statement;
  }
}

function settle(waiting: readonly WaitingBatch[], refusals: Refusals): void {
  for (const one of waiting) {
    if (refusals.has(one)) one.reject(refusals.get(one));
    else one.resolve();
  }
}

/** @returns those that wait for the disk */
function settleEarly(waiting: readonly WaitingBatch[], refusals: Refusals): readonly WaitingBatch[] {
  const early = waiting.filter(({ isEarly }) => isEarly);
  if (early.length === 0) return waiting;
  settle(early, refusals);
  return waiting.filter(({ isEarly }) => !isEarly);
}

function refuse(waiting: readonly WaitingBatch[], error: unknown): Refusals {
  return new Map(waiting.map((one) => [one, error]));
}

function isUniqueViolation(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}
