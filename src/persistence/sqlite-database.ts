import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AppError, Log } from '../errors/index.js';
import { commitRefused } from './commit-refused.error.js';
import { Database } from './database.js';
import { PURGED_BYTES, purgeFile } from './sqlite-purge.executor.js';
import {
  isLocked,
  isUniqueViolation,
  NONE,
  type Refusals,
  refuse,
  settle,
  settleEarly,
  SqliteLog,
  type WaitingBatch,
} from './sqlite-log.client.js';
import type { SqliteHandle, SqliteStatement } from './sqlite-handle.js';
import { toSteadySql } from './steady-sql.mapper.js';
import type { CommitOptions, SqlValue, Statement } from './statement/statement.types.js';

/** Delay of the next attempt to write to a locked file, in ms. */
const LOCK_RETRY_MS = 20;
/** Maximum turns of the event loop in which a group of batches is collected. */
const GATHERED_TURNS = 8;

/**
 * SQLite with group commit: batches of the same turns of the event loop share one transaction and so one fsync, which
 * runs beside the event loop. Batches that arrive meanwhile are the next group. Only if a batch is refused, each is
 * applied in a savepoint of its own. The handle is TypeORM's and is never left inside a transaction, so TypeORM's
 * single statements can run beside it.
 */
export class SqliteDatabase extends Database {
  readonly dialect = 'sqlite';
  override readonly isOwn = true;
  override readonly keepsOrder = true;
  private readonly logger = new Log(SqliteDatabase.name);
  private waiting: WaitingBatch[] = [];
  private isGathering = false;
  private waitTimer: NodeJS.Timeout | null = null;
  private lastGroup = 0;
  /** The fsync of the last written group, while it runs. */
  private syncing: Promise<void> | null = null;
  /** Whether another group waits for that fsync. */
  private isDue = false;
  /** Since when a lock of another process delays the waiting batches, by `performance.now()`. */
  private lockedSince: number | null = null;
  private readonly prepared = new Map<string, SqliteStatement>();

  /**
   * @param log write-ahead log of the file, if it has one
   * @param timeoutMs longest wait of a write for another process that has locked the file
   * @param purgedBytes largest file that `purge` rewrites
   */
  constructor(
    private readonly handle: SqliteHandle,
    private readonly log: SqliteLog | null = SqliteLog.of(handle),
    override readonly timeoutMs = 5_000,
    private readonly purgedBytes = PURGED_BYTES,
  ) {
    super();
  }

  protected apply(batch: readonly Statement[], { waitsMs = 0, isEarly = false }: CommitOptions = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ batch, isEarly, resolve, reject });
      if (waitsMs > 0) this.waitTimer ??= setTimeout(() => this.startGathering(), waitsMs);
      else this.startGathering();
    });
  }

  private startGathering(): void {
    if (this.isGathering) return;
    this.isGathering = true;
    // A write blocks the event loop, so pending output, such as a model's request, is sent first.
    process.nextTick(() => setImmediate(() => this.gather(0, 0)));
  }

  /**
   * Waits for more batches while each turn of the event loop adds some and recent groups were larger than one. A group
   * writes each touched page once, and a commit touches some fifty pages whether it is of five runs or of twenty. A
   * single batch does not wait.
   */
  private gather(turns: number, before: number): void {
    const { length } = this.waiting;
    const isAlone = length === 1 && this.lastGroup <= 1;
    if (isAlone || length === before || turns === GATHERED_TURNS) this.flush();
    else setImmediate(() => this.gather(turns + 1, length));
  }

  /** Resolves when the rows it has read are durable; after a disk failure it rejects, as durability is unknown. */
  protected async read<Row>(sql: string, params: readonly SqlValue[]): Promise<Row[]> {
    this.log?.check();
    const rows = this.prepare(sql).all(...params) as Row[];
    if (this.syncing) await this.syncing;
    return rows;
  }

  /** The handle makes a single statement durable before it returns. */
  protected override async run<Result>(statement: () => Promise<Result>): Promise<Result> {
    const lastMs = performance.now() + this.timeoutMs;
    for (;;) {
      this.log?.check();
      try {
        const result = await statement();
        if (this.syncing) await this.syncing;
        return result;
      } catch (error) {
        if (!isLocked(error) || performance.now() >= lastMs) {
          throw isUniqueViolation(error) ? commitRefused('unique', 0, (error as Error).message, error) : error;
        }
      }
      await pause(LOCK_RETRY_MS);
    }
  }

  /** The file was removed or replaced: writes would be lost. */
  lose(): void {
    const message = `The database file ${this.handle.name} was removed or replaced while it was open. This process no longer uses it: restore the file, then restart.`;
    this.fail(new AppError('JOURNAL_UNAVAILABLE', message));
  }

  override async freeBytes(): Promise<number | null> {
    if (this.handle.memory) return null;
    const { bavail, bsize } = await statfs(dirname(this.handle.name));
    return bavail * bsize;
  }

  /** A failed purge is repeated by the next one, or when the file is opened next. */
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
      if (this.lockedSince !== null) await pause(LOCK_RETRY_MS);
      await this.syncing?.catch(() => undefined);
    }
  }

  /** Commits pending batches, or schedules them for the end of the running fsync. */
  flush(): void {
    if (this.syncing) {
      this.isDue = true;
      return;
    }
    const { waiting } = this;
    clearTimeout(this.waitTimer ?? undefined);
    this.waitTimer = null;
    this.isGathering = false;
    if (waiting.length === 0) return;
    this.lastGroup = waiting.length;
    this.waiting = [];
    const refusals = this.commitGroup(waiting);
    if (this.isDelayed(refusals.get(waiting[0]!))) return this.retrySoon(waiting);
    if (this.log && refusals.size < waiting.length) void this.settleOnceDurable(this.log, waiting, refusals);
    else settle(waiting, refusals);
  }

  /** SQLite's own wait for a lock would block the event loop. */
  private isDelayed(refusal: unknown): boolean {
    const now = performance.now();
    const isWaiting = isLocked(refusal) && now - (this.lockedSince ??= now) < this.timeoutMs;
    if (!isWaiting) this.lockedSince = null;
    return isWaiting;
  }

  private retrySoon(waiting: WaitingBatch[]): void {
    this.waiting = [...waiting, ...this.waiting];
    this.isGathering = true;
    setTimeout(() => this.flush(), LOCK_RETRY_MS);
  }

  private async settleOnceDurable(log: SqliteLog, waiting: readonly WaitingBatch[], refusals: Refusals): Promise<void> {
    this.syncing = log.sync();
    const late = settleEarly(waiting, refusals);
    try {
      await this.syncing;
      settle(late, refusals);
    } catch (error) {
      settle(late, new Map([...refuse(late, error), ...refusals]));
      // It is unknown which data is durable, and a repeated fsync may hide the loss.
      this.fail(error as AppError);
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

  /** Applies all in one transaction without savepoints, for speed: refused batches are rare. */
  private commitAll(waiting: readonly WaitingBatch[]): void {
    this.transaction(() => {
      for (const { batch } of waiting) this.execute(batch);
    });
  }

  /** Applies all in one transaction, each in a savepoint, so that a refused one leaves no trace. */
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
    this.control('SAVEPOINT batch');
    try {
      this.execute(one.batch);
    } catch (error) {
      // Disk full or I/O error: SQLite has ended the whole transaction itself.
      if (!this.handle.inTransaction) throw error;
      this.control('ROLLBACK TO batch');
      refusals.set(one, error);
    }
    this.control('RELEASE batch');
  }

  private transaction(work: () => void): void {
    if (this.log) this.log.write(() => this.transact(work));
    else this.transact(work);
  }

  private transact(work: () => void): void {
    this.control('BEGIN IMMEDIATE');
    try {
      work();
      this.control('COMMIT');
    } catch (error) {
      if (this.handle.inTransaction) this.control('ROLLBACK');
      throw error;
    }
  }

  private execute(batch: readonly Statement[]): void {
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

  private control(sql: string): void {
    this.prepare(sql).run();
  }

  private prepare(sql: string): SqliteStatement {
    let statement = this.prepared.get(sql);
    if (!statement) this.prepared.set(sql, (statement = this.handle.prepare(toSteadySql(sql))));
    return statement;
  }
}
