import type { DatabaseError, Pool, PoolClient, QueryConfig } from 'pg';
import { commitRefused } from './commit-refused.error.js';
import { Database } from './database.js';
import { executeBatch, type BatchFailure } from './postgres-batch.executor.js';
import { PostgresStatementRegistry, ROWS_REFUSED } from './postgres-statement.registry.js';
import type { PostgresPlace } from './postgres-place.js';
import { SERVER_LIMITS } from './server-limits.policy.js';
import type { SqlValue, Statement } from './statement.types.js';
import { retryTransient } from './transient-failure.policy.js';

const UNIQUE_VIOLATION = '23505';
const NOT_A_NUMBER = '22P02';
/** The result type of a prepared text changed with the schema, e.g. by another node's migration. */
const PLAN_OUTDATED = '0A000';
/** Serialization failure and deadlock, after which the server has rolled back the transaction. */
const TRANSIENT = ['40001', '40P01'];
/** Connection lost, or server shutting down. */
const CONNECTION_FAILED = /^(08|57P)/;

/** PostgreSQL: a batch is one round trip and one transaction; the server shares an fsync among concurrent commits. */
export class PostgresDatabase extends Database {
  readonly dialect = 'postgres';
  private readonly statements = new PostgresStatementRegistry();
  private readonly inFlight = new Set<Promise<unknown>>();

  constructor(
    private readonly pool: Pool,
    override readonly place: PostgresPlace,
  ) {
    super();
  }

  async commit(batch: readonly Statement[]): Promise<void> {
    this.assertOpen();
    if (batch.length > 0) await this.tracked(() => this.apply(batch));
  }

  protected override async run<Result>(statement: () => Promise<Result>): Promise<Result> {
    this.assertOpen();
    try {
      return await this.tracked(statement);
    } catch (error) {
      throw codeOf(error) === UNIQUE_VIOLATION ? commitRefused('unique', 0, (error as Error).message, error) : error;
    }
  }

  /** Retries work that the server rolled back, and lets `close` wait for it. */
  private async tracked<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = retryTransient(work, (error) => TRANSIENT.includes(codeOf(error)));
    this.inFlight.add(done);
    try {
      return await done;
    } finally {
      this.inFlight.delete(done);
    }
  }

  async query<Found>(sql: string, params: readonly SqlValue[] = []): Promise<Found[]> {
    this.assertOpen();
    const { name, text } = this.statements.query(sql, params);
    const config = { text, values: [...params], query_timeout: SERVER_LIMITS.answerMs };
    try {
      return await this.rows({ ...config, name });
    } catch (error) {
      if (codeOf(error) !== PLAN_OUTDATED) throw error;
      return this.rows(config);
    }
  }

  async ping(): Promise<void> {
    await this.query('SELECT 1');
  }

  protected override async drain(): Promise<void> {
    await Promise.allSettled(this.inFlight);
  }

  private async rows<Found>(config: QueryConfig): Promise<Found[]> {
    const { rows } = await this.pool.query(config);
    return rows as Found[];
  }

  private async apply(batch: readonly Statement[]): Promise<void> {
    const client = await this.pool.connect();
    const failure = await this.send(client, batch);
    // A connection in an unknown state is closed, not reused.
    client.release(failure !== null && isOfConnection(failure.error));
    if (failure) throw toCommitError(failure, batch);
  }

  private async send(client: PoolClient, batch: readonly Statement[]): Promise<BatchFailure | null> {
    try {
      const steps = batch.map((statement) => ({ ...this.statements.change(statement), values: statement.params }));
      return await executeBatch(client, steps);
    } catch (error) {
      return { at: 0, error: error as Error };
    }
  }
}

function toCommitError({ at, error }: BatchFailure, batch: readonly Statement[]): Error {
  const sql = batch[at]?.sql ?? 'COMMIT';
  if (codeOf(error) === UNIQUE_VIOLATION) return commitRefused('unique', at, sql, error);
  const isRows = codeOf(error) === NOT_A_NUMBER && error.message.includes(ROWS_REFUSED);
  return isRows ? commitRefused('rows', at, sql, error) : error;
}

/** The SQLSTATE; empty for an error that is not from the server. */
function codeOf(error: unknown): string {
  const { code, severity } = (error ?? {}) as Partial<DatabaseError>;
  return severity === undefined ? '' : (code ?? '');
}

function isOfConnection(error: Error): boolean {
  const code = codeOf(error);
  return code === '' || CONNECTION_FAILED.test(code);
}
