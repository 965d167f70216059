import type { Pool, PoolConnection, QueryError } from 'mysql2';
import { commitRefused } from './commit-refused.error.js';
import { Database } from './database.js';
import type { MariadbOwnerClient } from './mariadb-owner.client.js';
import { ROWS_REFUSED, type MariadbTextBuilder } from './mariadb-text.builder.js';
import { SERVER_LIMITS } from './server-limits.policy.js';
import type { SqlValue, Statement } from './statement.types.js';
import { retryTransient } from './transient-failure.policy.js';

const DUPLICATE_ENTRY = 1062;
/** Deadlock and lock wait time-out. */
const TRANSIENT = [1213, 1205];
/** The message prefix of the batch's own error handler, after its rollback. */
const ROLLED_BACK = /^(\d+): /;

/** MariaDB: a batch is one compound statement, and so one round trip. */
export class MariadbDatabase extends Database {
  readonly dialect = 'mariadb';
  private readonly inFlight = new Set<Promise<unknown>>();

  constructor(
    private readonly pool: Pool,
    private readonly texts: MariadbTextBuilder,
    /** The write lock, if no Redis makes the processes a cluster: then only one process may write. */
    private readonly owner: MariadbOwnerClient | null,
  ) {
    super();
  }

  async commit(batch: readonly Statement[]): Promise<void> {
    this.assertOpen();
    if (batch.length === 0) return;
    const text = this.texts.batch(batch);
    await this.tracked(() => this.apply(text, batch));
  }

  protected override async run<Result>(statement: () => Promise<Result>): Promise<Result> {
    this.assertOpen();
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
    const done = retryTransient(work, (error) => TRANSIENT.includes(numberOf(error)));
    this.inFlight.add(done);
    try {
      return await done;
    } finally {
      this.inFlight.delete(done);
    }
  }

  async query<Found>(sql: string, params: readonly SqlValue[] = []): Promise<Found[]> {
    this.assertOpen();
    return (await this.send(this.texts.query(sql, params))) as Found[];
  }

  async ping(): Promise<void> {
    await this.query('SELECT 1');
  }

  protected override async drain(): Promise<void> {
    await Promise.allSettled(this.inFlight);
  }

  private async apply(text: string, batch: readonly Statement[]): Promise<void> {
    await this.owner?.check();
    try {
      await this.send(text);
    } catch (error) {
      throw toCommitError(error as QueryError, batch);
    }
  }

  private async send(sql: string): Promise<unknown> {
    const connection = await acquire(this.pool);
    return new Promise((resolve, reject) => {
      // Not the driver's timer: it would outlive a lost connection and keep the process alive.
      const timer = setTimeout(() => {
        connection.destroy();
        reject(new Error('The database did not answer in time.'));
      }, SERVER_LIMITS.answerMs);
      connection.query(sql, (error, result) => {
        clearTimeout(timer);
        // A connection that may still be inside a transaction is not reused.
        if (error && !ROLLED_BACK.test(error.message)) connection.destroy();
        else connection.release();
        if (error) reject(error);
        else resolve(result);
      });
    });
  }
}

/** A connection of the pool, with a time limit that the pool lacks. */
function acquire(pool: Pool): Promise<PoolConnection> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(new Error('No connection to the database became free in time.'));
    }, SERVER_LIMITS.connectMs);
    pool.getConnection((error, connection) => {
      clearTimeout(timer);
      if (isLate) connection?.release();
      else if (error) reject(error);
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
