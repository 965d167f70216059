import type { DataSource, EntitySchemaOptions, ObjectLiteral } from 'typeorm';
import { AppError, Log } from '../errors/index.js';
import { steadyNow } from '../kernel/index.js';
import { DatabaseOrigin } from './database-origin.js';
import { STORAGE_PROBE } from './migrations/1764000000030-create-storage-probe.migration.js';
import type { PostgresPlace } from './postgres-place.js';
import { withinLimit } from './server-limits.policy.js';
import { accumulate, insertIgnore, limitedDelete, upsert } from './statement/statement.factory.js';
import type { CommitOptions, Dialect, Row, SqlValue, Statement } from './statement/statement.types.js';
import { damaged, isDamaged, isStorageUnavailable } from './storage-fault.policy.js';
import { currentPatience, outlast, StorageStatus } from './storage-status.js';
import { Table } from './schema/table.js';

/** @param runIds runs whose status a commit of this process has changed */
export type StatusListener = (runIds: readonly string[]) => void;

/** @param ms duration of a commit that succeeded, with its wait for other batches and for the end of an outage */
export type CommitListener = (ms: number) => void;

/**
 * Performs a call of the application, or refuses it.
 * @param call passes the call to the database
 * @param batch the statements of a commit; without it the call reads, or is one statement of TypeORM
 */
export type CallInterceptor = <Result>(call: () => Promise<Result>, batch?: readonly Statement[]) => Promise<Result>;

/**
 * The port to the database. An operation of several statements is a batch: either all of it is durable when `commit`
 * resolves, or nothing was applied. Code cannot await inside a batch.
 */
export abstract class Database {
  private readonly companions = new Map<unknown, unknown>();
  private isClosed = false;
  private interceptor: CallInterceptor | undefined;
  private failure: AppError | null = null;
  private readonly failureListeners: (() => void)[] = [];
  private readonly statusListeners = new Set<StatusListener>();
  private readonly commitListeners = new Set<CommitListener>();
  private dataSource: DataSource | undefined;
  private readonly status = new StorageStatus(() => this.apply([this.probe()]));
  private cameFrom = DatabaseOrigin.NEW;
  /** The end of all calls, by the steady clock; infinite before the application stops. */
  private endsAt = Infinity;

  abstract readonly dialect: Dialect;
  /** Whether no other process can write to the database, as with SQLite's locked file. */
  readonly isOwn: boolean = false;
  /** The location of the tables in PostgreSQL; `null` for another database. */
  readonly place: PostgresPlace | null = null;
  /** Longest wait of a call, in ms. */
  readonly timeoutMs: number = 5_000;
  /** Whether batches are applied in the order of their `commit` calls, however many are pending. */
  readonly keepsOrder: boolean = false;

  /**
   * Applies a batch atomically and durably.
   * @throws AppError `COMMIT_REFUSED` (see `refusalOf`) when a condition of the batch is unmet: nothing was applied.
   * AppError `DATABASE_LOCKED` when another process has become the owner of the database. AppError
   * `STORAGE_UNAVAILABLE` when the database cannot write at present: nothing was applied if `isRetryable`, otherwise
   * that is unknown. Any other error is the driver's
   */
  commit(batch: readonly Statement[], options?: CommitOptions): Promise<void> {
    const since = this.commitListeners.size > 0 ? steadyNow() : 0;
    const committed = this.guarded('write', () => this.apply(batch, options), batch);
    if (since > 0) committed.then(() => this.measured(steadyNow() - since)).catch(() => undefined);
    if (this.statusListeners.size > 0) committed.then(() => this.publishChanges(batch)).catch(() => undefined);
    return committed;
  }

  /** Calls the listener after each commit of this process that changes the status of runs. @returns the end of it */
  onStatusChange(listener: StatusListener): () => void {
    this.statusListeners.add(listener);
    return () => void this.statusListeners.delete(listener);
  }

  /** Calls the listener after each commit of this process. @returns the end of it */
  onCommit(listener: CommitListener): () => void {
    this.commitListeners.add(listener);
    return () => void this.commitListeners.delete(listener);
  }

  private measured(ms: number): void {
    for (const listener of this.commitListeners) listener(ms);
  }

  private publishChanges(batch: readonly Statement[]): void {
    const runIds = batch.flatMap(({ changedRun }) => changedRun ?? []);
    if (runIds.length > 0) for (const listener of this.statusListeners) listener(runIds);
  }

  /** Reads rows by one prepared statement; `bigint` columns are numbers. @throws AppError `STORAGE_UNAVAILABLE` */
  query<Found>(sql: string, params: readonly SqlValue[] = []): Promise<Found[]> {
    return this.guarded('read', () => this.read<Found>(sql, params));
  }

  /** `commit` of a driver. */
  protected abstract apply(batch: readonly Statement[], options?: CommitOptions): Promise<void>;

  /** `query` of a driver. */
  protected abstract read<Found>(sql: string, params: readonly SqlValue[]): Promise<Found[]>;

  /** The rows of a table as objects. @param schema one of the schemas with which the database was opened */
  table<T extends ObjectLiteral>({ name }: EntitySchemaOptions<T>): Table<T> {
    const repository = () => this.dataSource!.getRepository<T>(name);
    return new Table(repository, (use, statement) => this.guarded(use, () => this.run(statement)));
  }

  /** Passes further calls through an interceptor: `jackdaw/testing` ends processes by it. */
  intercept(interceptor: CallInterceptor): void {
    this.interceptor = interceptor;
  }

  /** Gives `table` its connection. */
  useDataSource(dataSource: DataSource, origin = DatabaseOrigin.NEW): void {
    this.dataSource = dataSource;
    this.cameFrom = origin;
  }

  /** Whether it is a copy; known when the database is open. */
  get origin(): DatabaseOrigin {
    return this.cameFrom;
  }

  /** Executes one statement of TypeORM. */
  protected abstract run<Result>(statement: () => Promise<Result>): Promise<Result>;

  /** `run` of another database, for a database that delegates to it. */
  protected static runOn<Result>(database: Database, statement: () => Promise<Result>): Promise<Result> {
    return database.run(statement);
  }

  /**
   * Starts work that needs the open database: at once, or when this process becomes the owner of the database. Other
   * calls then wait for the work, and fail if it fails.
   */
  async onceOpen(work: () => Promise<void> | void): Promise<void> {
    await work();
  }

  /** Resolves when the database answers. */
  async ping(): Promise<void> {
    await this.query('SELECT 1');
  }

  /**
   * Resolves if a write succeeded within the last `ms`; otherwise writes a small row.
   * @throws AppError `STORAGE_UNAVAILABLE`
   */
  async proveWrite(ms: number): Promise<void> {
    this.assertOpen();
    if (this.failure) throw this.failure;
    await this.status.proveWrite(ms);
  }

  /** The cause of the present outage, without names of files or servers; `null` if the database is available. */
  get outage(): string | null {
    return this.failure ? 'it cannot be used until a restart' : (this.status.fault?.cause ?? null);
  }

  /** Calls the listener once when no call can succeed until a restart: the data is damaged, or its file is gone. */
  onFailure(listener: () => void): void {
    if (this.failure) listener();
    else this.failureListeners.push(listener);
  }

  /** Free bytes on the disk of the database; `null` if its disk is not one of this machine. */
  async freeBytes(): Promise<number | null> {
    return null;
  }

  /** Resolves at the end of the present outage; at once without one, and when the database is closed. */
  available(): Promise<void> {
    return this.status.available();
  }

  /**
   * Removes deleted data from the database's files, where a process can: SQLite's files up to 64 MB completely; larger
   * ones except for fragments in used pages, which the next start removes. A database server overwrites old rows only
   * when it needs their space. Failures are logged and retried later.
   */
  async purge(): Promise<void> {}

  /** Limits the calls from now on to a time: an application that stops waits no longer for a silent server. */
  endCallsIn(ms: number): void {
    this.endsAt = steadyNow() + ms;
  }

  /** Commits pending batches. Afterwards the connection may be closed, and every call fails with `SHUTTING_DOWN`. */
  async close(): Promise<void> {
    await this.drain();
    this.isClosed = true;
    this.status.close();
  }

  /** Commits pending batches. */
  protected abstract drain(): Promise<void>;

  /** In patient work, a call that had no effect is repeated until the database answers. */
  private async guarded<Result>(
    use: 'read' | 'write',
    direct: () => Promise<Result>,
    batch?: readonly Statement[],
  ): Promise<Result> {
    const since = steadyNow();
    const { interceptor } = this;
    const work = interceptor ? () => interceptor(direct, batch) : direct;
    for (;;) {
      try {
        return await this.attempt(use, work);
      } catch (error) {
        const patience = currentPatience();
        if (!patience || !isStorageUnavailable(error) || !error.isRetryable) throw error;
        await outlast(patience, this.available(), this.timeoutMs - (steadyNow() - since));
      }
    }
  }

  private async attempt<Result>(use: 'read' | 'write', work: () => Promise<Result>): Promise<Result> {
    this.assertOpen();
    if (this.failure) throw this.failure;
    this.status.check(use);
    try {
      const leftMs = this.endsAt - steadyNow();
      const result = await (leftMs < this.timeoutMs ? withinLimit(Math.max(leftMs, 0), work()) : work());
      this.status.succeeded(use);
      return result;
    } catch (error) {
      if (isDamaged(error)) this.fail(damaged(error));
      throw this.failure ?? this.status.failed(error, use === 'write');
    }
  }

  /** Refuses all further calls: after a damage, or when writes may be lost, only a restart helps. */
  protected fail(error: AppError): void {
    if (this.failure) return;
    this.failure = error;
    // Calls that wait for the end of an outage fail too.
    this.status.close();
    new Log('Database').fatal(error.message);
    for (const listener of this.failureListeners) listener();
  }

  private probe(): Statement {
    return this.upsert(STORAGE_PROBE.name, [{ id: 1, written_at: Date.now() }], ['id']);
  }

  /** @throws AppError `SHUTTING_DOWN` after `close`, as a driver's own error would not name the reason */
  protected assertOpen(): void {
    if (!this.isClosed) return;
    throw new AppError('SHUTTING_DOWN', 'The database is closed, because its application is closed.');
  }

  /**
   * An object that all applications of this process that use this database share.
   * @param key identifies the object, for example its class
   * @param create creates the object at the first call
   */
  shared<T>(key: unknown, create: () => T): T {
    if (!this.companions.has(key)) this.companions.set(key, create());
    return this.companions.get(key) as T;
  }

  /** An insert without effect if the row exists. The affected row count differs by database: do not set `rows`. */
  insertIgnore(table: string, row: Row): Statement {
    return insertIgnore(this.dialect, table, row);
  }

  /**
   * An upsert: inserts rows and replaces those with the same keys. The table must have no other unique key. The
   * affected row count differs by database: do not set `rows`.
   * @param rows at least one, with the same columns and different keys
   */
  upsert(table: string, rows: readonly Row[], keyColumns: readonly string[]): Statement {
    return upsert(this.dialect, table, rows, keyColumns);
  }

  /** An insert that adds the numbers of a row to those of the row with the same key. */
  accumulate(table: string, row: Row, keyColumns: readonly string[]): Statement {
    return accumulate(this.dialect, table, row, keyColumns);
  }

  /**
   * Deletes up to `limit` rows, so that a large clean-up runs as many short transactions.
   * @param keyColumns the table's primary key
   * @param where a condition with `?` placeholders; may end with an ORDER BY
   */
  limitedDelete(
    table: string,
    keyColumns: readonly string[],
    where: string,
    params: readonly SqlValue[],
    limit: number,
  ): Statement {
    return limitedDelete(this.dialect, table, keyColumns, { where, params }, limit);
  }
}
