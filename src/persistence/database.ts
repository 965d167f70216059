import type { DataSource, EntitySchemaOptions, ObjectLiteral } from 'typeorm';
import { AppError } from '../errors/index.js';
import type { PostgresPlace } from './postgres-place.js';
import { SERVER_LIMITS } from './server-limits.policy.js';
import { insertIgnore, limitedDelete, upsert } from './statement.factory.js';
import type { CommitOptions, Dialect, Row, SqlValue, Statement } from './statement.types.js';
import { Table } from './table.js';

/**
 * The port to the database. An operation of several statements is a batch: either all of it is durable when `commit`
 * resolves, or nothing was applied. Code cannot await inside a batch.
 */
export abstract class Database {
  private readonly companions = new Map<unknown, unknown>();
  private isClosed = false;
  private dataSource: DataSource | undefined;

  abstract readonly dialect: Dialect;
  /** Whether no other process can write to the database, as with SQLite's locked file. */
  readonly isOwn: boolean = false;
  /** The location of the tables in PostgreSQL; `null` for another database. */
  readonly place: PostgresPlace | null = null;
  /** Whether batches are applied in the order of their `commit` calls, however many are pending. */
  readonly keepsOrder: boolean = false;

  /**
   * Applies a batch atomically and durably.
   * @throws AppError `COMMIT_REFUSED` (see `refusalOf`) when a condition of the batch is unmet: nothing was applied.
   * AppError `DATABASE_LOCKED` when another process has become the owner of the database. Any other error is the
   * driver's;
   * after a connection error it is unknown whether the batch was applied
   */
  abstract commit(batch: readonly Statement[], options?: CommitOptions): Promise<void>;

  /** Reads rows by one prepared statement; `bigint` columns are numbers. */
  abstract query<Found>(sql: string, params?: readonly SqlValue[]): Promise<Found[]>;

  /** The rows of a table as objects. @param schema one of the schemas with which the database was opened */
  table<T extends ObjectLiteral>({ name }: EntitySchemaOptions<T>): Table<T> {
    const repository = () => this.dataSource!.getRepository<T>(name);
    return new Table(repository, (statement) => this.run(() => answered(statement())));
  }

  /** Gives `table` its connection. */
  useDataSource(dataSource: DataSource): void {
    this.dataSource = dataSource;
  }

  /** Executes one statement of TypeORM. @throws AppError as `commit` */
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
  abstract ping(): Promise<void>;

  /**
   * Removes deleted data from the database's files, where a process can: SQLite's files up to 64 MB completely; larger
   * ones except for fragments in used pages, which the next start removes. A database server overwrites old rows only
   * when it needs their space. Failures are logged and retried later.
   */
  async purge(): Promise<void> {}

  /** Commits pending batches. Afterwards the connection may be closed, and every call fails with `SHUTTING_DOWN`. */
  async close(): Promise<void> {
    await this.drain();
    this.isClosed = true;
  }

  /** Commits pending batches. */
  protected abstract drain(): Promise<void>;

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

/** The result of a statement, with the time limit that TypeORM lacks. After it, the statement may still take effect. */
async function answered<Result>(result: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('The database did not answer in time.')), SERVER_LIMITS.answerMs);
  });
  try {
    return await Promise.race([result, late]);
  } finally {
    clearTimeout(timer);
  }
}
