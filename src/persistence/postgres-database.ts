import type { DatabaseError, Pool, PoolClient, QueryConfig } from 'pg';
import { commitRefused } from './commit-refused.error.js';
import { Database } from './database.js';
import { executeBatch, type BatchFailure } from './postgres-batch.executor.js';
import { PostgresStatementRegistry, ROWS_REFUSED } from './postgres-statement.registry.js';
import type { PostgresPlace } from './postgres-place.js';
import { longLimit, statementLimit, withinLimit } from './server-limits.policy.js';
import type { SqlValue, Statement } from './statement/statement.types.js';
import { NotSentError, storageFaultOf } from './storage-fault.policy.js';
import { TransientRetry } from './transient-failure.policy.js';

const UNIQUE_VIOLATION = '23505';
const NOT_A_NUMBER = '22P02';
/** The result type of a prepared text changed with the schema, e.g. by another node's migration. */
const PLAN_OUTDATED = '0A000';
/** Serialization failure and deadlock, after which the server has rolled back the transaction. */
const TRANSIENT = ['40001', '40P01'];

/** PostgreSQL: a batch is one round trip and one transaction; the server shares an fsync among concurrent commits. */
export class PostgresDatabase extends Database {
  readonly dialect = 'postgres';
  private readonly statements = new PostgresStatementRegistry();
  private readonly inFlight = new Set<Promise<unknown>>();
  private readonly retry = new TransientRetry((error) => TRANSIENT.includes(codeOf(error)));

  constructor(
    private readonly pool: Pool,
    override readonly place: PostgresPlace,
    override readonly timeoutMs: number,
  ) {
    super();
  }

  protected async apply(batch: readonly Statement[]): Promise<void> {
    if (batch.length > 0) await this.tracked(() => this.write(batch));
  }

  protected override async run<Result>(statement: () => Promise<Result>): Promise<Result> {
    try {
      return await this.tracked(statement);
    } catch (error) {
      throw codeOf(error) === UNIQUE_VIOLATION ? commitRefused('unique', 0, (error as Error).message, error) : error;
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
    const { name, text } = this.statements.query(sql, params);
    const config = { text, values: [...params], query_timeout: this.limitMs };
    try {
      return await this.rows({ ...config, name });
    } catch (error) {
      if (codeOf(error) !== PLAN_OUTDATED) throw error;
      return this.rows(config);
    }
  }

  protected override async drain(): Promise<void> {
    await Promise.allSettled(this.inFlight);
  }

  private get limitMs(): number {
    return longLimit(this.timeoutMs) ?? this.timeoutMs;
  }

  private async rows<Found>(config: QueryConfig): Promise<Found[]> {
    const long = longLimit(this.timeoutMs);
    const found = long === undefined ? this.pool.query(config) : this.longRows(config, long);
    const { rows } = await withinLimit(this.limitMs, found);
    return rows as Found[];
  }

  private async longRows(config: QueryConfig, limitMs: number): Promise<{ rows: unknown[] }> {
    const client = await this.pool.connect();
    let isUsable = false;
    try {
      const found = await this.withLimitOf(client, limitMs, () => client.query<Record<string, unknown>>(config));
      isUsable = true;
      return found;
    } finally {
      client.release(!isUsable);
    }
  }

  private async write(batch: readonly Statement[]): Promise<void> {
    const client = await this.pool.connect().catch((error: unknown) => {
      throw new NotSentError(error);
    });
    const long = longLimit(this.timeoutMs);
    const send = () => this.send(client, batch, this.limitMs);
    const failure = await (long === undefined ? send() : this.withLimitOf(client, long, send)).catch(toFailure);
    // A connection in an unknown state, or to a server that became read-only, is closed, not reused.
    client.release(failure !== null && (codeOf(failure.error) === '' || storageFaultOf(failure.error) !== undefined));
    if (failure) throw toCommitError(failure, batch);
  }

  /** Replaces the server's statement limit of a connection during some work. */
  private async withLimitOf<T>(client: PoolClient, limitMs: number, work: () => Promise<T>): Promise<T> {
    await client.query(`SET statement_timeout = ${limitMs}`);
    const result = await work();
    await client.query(`SET statement_timeout = ${statementLimit(this.timeoutMs)}`);
    return result;
  }

  private async send(client: PoolClient, batch: readonly Statement[], limitMs: number): Promise<BatchFailure | null> {
    try {
      const steps = batch.map((statement) => ({ ...this.statements.change(statement), values: statement.params }));
      return await executeBatch(client, steps, limitMs);
    } catch (error) {
      return toFailure(error);
    }
  }
}

function toFailure(error: unknown): BatchFailure {
  return { at: 0, error: error as Error };
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
