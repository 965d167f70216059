import type { Pool, PoolConnection, QueryError } from 'mysql2';
import { messageOf } from '../errors/index.js';
import { TimeLimit } from '../kernel/index.js';
import { commitRefused } from './commit-refused.error.js';
import { Database } from './database.js';
import type { MariadbOwnerClient } from './mariadb-owner.client.js';
import { ROWS_REFUSED, type MariadbTextBuilder } from './mariadb-text.builder.js';
import { longLimit, statementLimit, withinLimit } from './server-limits.policy.js';
import type { SqlValue, Statement } from './statement/statement.types.js';
import { NoAnswerError, NotSentError } from './storage-fault.policy.js';
import { TransientRetry } from './transient-failure.policy.js';

const DUPLICATE_ENTRY = 1062;
/** Deadlock and lock wait time-out. */
const TRANSIENT = [1213, 1205];
/** The message prefix of the batch's own error handler, after its rollback. */
const ROLLED_BACK = /^(\d+): /;

/** MariaDB: a batch is one compound statement, and so one round trip. */
export class MariadbDatabase extends Database {
  readonly dialect = 'mariadb';
  private readonly inFlight = new Set<Promise<unknown>>();
  private readonly retry = new TransientRetry((error) => TRANSIENT.includes(numberOf(error)));

  constructor(
    private readonly pool: Pool,
    private readonly texts: MariadbTextBuilder,
    /** The write lock, if no Redis makes the processes a cluster: then only one process may write. */
    private readonly owner: MariadbOwnerClient | null,
    override readonly timeoutMs: number,
  ) {
    super();
  }

  protected async apply(batch: readonly Statement[]): Promise<void> {
    if (batch.length === 0) return;
    const text = this.texts.batch(batch);
    await this.tracked(() => this.write(text, batch));
  }

  protected override async run<Result>(statement: () => Promise<Result>): Promise<Result> {
    try {
      return await this.tracked(async () => {
        await this.owner?.check();
        return statement();
      });
    } catch (error) {
      throw numberOf(error) === DUPLICATE_ENTRY ? commitRefused('unique', 0, (error as Error).message, error) : error;
    }
  }

  /** Retries work that the server rolled back, and lets `close` wait for it. */
  private async tracked<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.retry.run(work);
    this.inFlight.add(done);
    void done.catch(() => undefined).finally(() => this.inFlight.delete(done));
    return withinLimit(this.limitMs, done);
  }

  protected async read<Found>(sql: string, params: readonly SqlValue[]): Promise<Found[]> {
    return withinLimit(this.limitMs, this.send(this.texts.query(sql, params)) as Promise<Found[]>);
  }

  protected override async drain(): Promise<void> {
    await Promise.allSettled(this.inFlight);
  }

  private get limitMs(): number {
    return longLimit(this.timeoutMs) ?? this.timeoutMs;
  }

  private async write(text: string, batch: readonly Statement[]): Promise<void> {
    await this.owner?.check();
    try {
      await this.send(text);
    } catch (error) {
      throw toCommitError(error as QueryError, batch);
    }
  }

  private async send(sql: string): Promise<unknown> {
    const connection = await acquire(this.pool, this.timeoutMs);
    const long = longLimit(this.timeoutMs);
    try {
      if (long !== undefined) await ask(connection, statementTime(long), this.timeoutMs);
      const result = await ask(connection, sql, this.limitMs);
      if (long !== undefined) await ask(connection, statementTime(statementLimit(this.timeoutMs)), this.timeoutMs);
      connection.release();
      return result;
    } catch (error) {
      // A connection that may still be inside a transaction is not reused.
      if (long === undefined && ROLLED_BACK.test(messageOf(error))) connection.release();
      else connection.destroy();
      throw error;
    }
  }
}

function statementTime(limitMs: number): string {
  return `SET SESSION max_statement_time = ${limitMs / 1000}`;
}

function ask(connection: PoolConnection, sql: string, limitMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    // Not the driver's timer: it would outlive a lost connection and keep the process alive.
    const limit = new TimeLimit(limitMs, () => reject(new NoAnswerError()));
    connection.query(sql, (error, result) => {
      limit.clear();
      if (error) reject(error);
      else resolve(result);
    });
  });
}

/** A connection of the pool, with a time limit that the pool lacks. */
function acquire(pool: Pool, limitMs: number): Promise<PoolConnection> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const limit = new TimeLimit(limitMs, () => {
      isLate = true;
      reject(new NotSentError(new NoAnswerError()));
    });
    pool.getConnection((error, connection) => {
      limit.clear();
      if (isLate) connection?.release();
      else if (error) reject(new NotSentError(error));
      else resolve(connection);
    });
  });
}

function toCommitError(error: QueryError, batch: readonly Statement[]): Error {
  const at = Number(ROLLED_BACK.exec(error.message)?.[1] ?? Number.NaN);
  const sql = batch[at]?.sql;
  if (sql === undefined) return error;
  if (numberOf(error) === DUPLICATE_ENTRY) return commitRefused('unique', at, sql, error);
  return error.message.endsWith(ROWS_REFUSED) ? commitRefused('rows', at, sql, error) : error;
}

function numberOf(error: unknown): number {
  return (error as QueryError | null)?.errno ?? 0;
}
