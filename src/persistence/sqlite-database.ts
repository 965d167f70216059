import { commitRefused } from './commit-refused.error.js';
import { Database, insert, type SqlValue, type Statement } from './database.js';
import type { SqliteHandle, SqliteStatement } from './sqlite-handle.types.js';

interface WaitingBatch {
  readonly batch: readonly Statement[];
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * SQLite with group commit: batches that wait in the same turn of the event loop share one transaction (each in a
 * savepoint of its own) and so one fsync. The handle is TypeORM's own; it is never left inside a transaction, so
 * TypeORM's single statements run beside it.
 */
export class SqliteDatabase extends Database {
  private waiting: WaitingBatch[] = [];
  private readonly prepared = new Map<string, SqliteStatement>();

  constructor(private readonly handle: SqliteHandle) {
    super();
  }

  commit(batch: readonly Statement[]): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.waiting.push({ batch, resolve, reject }) === 1) setImmediate(() => this.flush());
    });
  }

  query<Row>(sql: string, params: readonly SqlValue[] = []): Promise<Row[]> {
    return new Promise((resolve) => {
      resolve(this.prepare(sql).all(...params) as Row[]);
    });
  }

  insertIgnore(table: string, row: Readonly<Record<string, SqlValue>>): Statement {
    const { sql, params } = insert(table, row);
    return { sql: `${sql} ON CONFLICT DO NOTHING`, params };
  }

  async ping(): Promise<void> {
    await this.query('SELECT 1');
  }

  /** Commits what still waits; then the handle may be closed. */
  flush(): void {
    const waiting = this.waiting;
    if (waiting.length === 0) return;
    this.waiting = [];
    try {
      if (waiting.length === 1) this.commitAlone(waiting[0]!);
      else this.commitTogether(waiting);
    } catch (error) {
      // Disk full, I/O error: SQLite may or may not have ended the transaction itself.
      if (this.handle.inTransaction) this.run('ROLLBACK');
      for (const one of waiting) one.reject(error);
    }
  }

  private commitAlone(one: WaitingBatch): void {
    this.run('BEGIN IMMEDIATE');
    this.apply(one.batch);
    this.run('COMMIT');
    one.resolve();
  }

  private commitTogether(waiting: readonly WaitingBatch[]): void {
    const applied: WaitingBatch[] = [];
    const refused: [WaitingBatch, unknown][] = [];
    this.run('BEGIN IMMEDIATE');
    for (const one of waiting) {
      this.run('SAVEPOINT batch');
      try {
        this.apply(one.batch);
        applied.push(one);
      } catch (error) {
        if (!this.handle.inTransaction) throw error;
        this.run('ROLLBACK TO batch');
        refused.push([one, error]);
      }
      this.run('RELEASE batch');
    }
    this.run('COMMIT');
    for (const one of applied) one.resolve();
    for (const [one, error] of refused) one.reject(error);
  }

  private apply(batch: readonly Statement[]): void {
    for (const { sql, params, rows } of batch) {
      let changes: number;
      try {
        changes = this.prepare(sql).run(...params).changes;
      } catch (error) {
        throw isUniqueViolation(error) ? commitRefused('unique', sql, error) : error;
      }
      if (rows !== undefined && rows !== changes) throw commitRefused('rows', sql);
    }
  }

  private run(sql: string): void {
    this.prepare(sql).run();
  }

  private prepare(sql: string): SqliteStatement {
    let statement = this.prepared.get(sql);
    if (!statement) this.prepared.set(sql, (statement = this.handle.prepare(sql)));
    return statement;
  }
}

function isUniqueViolation(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}
