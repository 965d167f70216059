import { createHash } from 'node:crypto';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import { holdProcess, steadyNow } from '../kernel/index.js';
import { AppError, Log } from '../errors/index.js';
import { LOCKED } from './sqlite-lock.factory.js';

/** Interval of the check of the connection that holds the lock, in ms. */
const HEARTBEAT_MS = 5_000;
/**
 * Time of silence after which the server drops the connection and its lock; the takeover from a dead machine takes as
 * long.
 */
const SILENCE_S = 15;
const RETRY_MS = 500;
/** Wait for the lock: the server may notice the end of a process after its successor has started. */
const LOCK_WAIT_S = 1;
/** The shortest limit for lock names among server versions. */
const LONGEST_NAME = 64;

/**
 * The write lock of one process on a database without a Redis queue: a server-side lock on a connection of its own. A
 * lost connection loses the lock. It is taken again at once; if another process took it first, this process writes
 * nothing more.
 */
export class MariadbOwnerClient {
  private readonly logger = new Log(MariadbOwnerClient.name);
  private readonly lock: string;
  private connection: Connection | null = null;
  /** Id of the last connection that held the lock, and the time of its loss. */
  private last: { readonly id: number; lostAt: number } | null = null;
  private taking: Promise<void> | null = null;
  private lost: AppError | null = null;
  private isClosed = false;
  private heartbeat: NodeJS.Timeout | undefined;
  private retry: NodeJS.Timeout | undefined;

  /** `name` is the server and database, for messages. */
  constructor(
    private readonly connect: () => Promise<Connection>,
    private readonly name: string,
    database: string,
  ) {
    const lock = `jackdaw:${database}`;
    this.lock = lock.length <= LONGEST_NAME ? lock : createHash('sha256').update(lock).digest('hex');
  }

  /** Returns undefined if this process has the lock; otherwise acquires it. @throws as `take` does */
  check(): Promise<void> | undefined {
    return this.connection ? undefined : this.take();
  }

  /** @throws AppError `DATABASE_LOCKED` when another process has the lock, or the driver's error */
  take(): Promise<void> {
    if (this.lost) return Promise.reject(this.lost);
    this.taking ??= holdProcess(this.takeOnce()).finally(() => (this.taking = null));
    return this.taking;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.heartbeat);
    clearTimeout(this.retry);
    await this.taking?.catch(() => undefined);
    const { connection } = this;
    this.connection = null;
    if (!connection) return;
    try {
      // Release first: the server would notice the end of the connection a moment later.
      await connection.query('SELECT RELEASE_LOCK(?)', [this.lock]);
      await connection.end();
    } catch {
      connection.destroy();
    }
  }

  private async takeOnce(): Promise<void> {
    const connection = await this.connect();
    connection.on('error', () => this.drop(connection));
    connection.on('end', () => this.drop(connection));
    try {
      await connection.query(`SET SESSION wait_timeout = ${SILENCE_S}`);
      await this.lockOn(connection);
      if (this.isClosed) throw new Error('The database is being closed.');
    } catch (error) {
      connection.destroy();
      throw error;
    }
    this.connection = connection;
    clearInterval(this.heartbeat);
    this.heartbeat = setInterval(() => this.beat(connection), HEARTBEAT_MS).unref();
  }

  private async lockOn(connection: Connection): Promise<void> {
    const [[row]] = await connection.query<RowDataPacket[]>(
      'SELECT GET_LOCK(?, ?) AS is_ours, IS_USED_LOCK(?) AS holder, CONNECTION_ID() AS id',
      [this.lock, LOCK_WAIT_S, this.lock],
    );
    const { is_ours: isOurs, holder, id } = row as { is_ours: number; holder: number | null; id: number };
    if (isOurs !== 1)
      throw this.isHeldByOther(holder) ? this.lockedElsewhere() : new Error('The lock is not free yet.');
    this.last = { id, lostAt: Number.POSITIVE_INFINITY };
  }

  /** False if the lock has just become free, or if the server has not noticed yet that our own connection is lost. */
  private isHeldByOther(holder: number | null): boolean {
    if (holder === null) return false;
    return this.last?.id !== holder || steadyNow() > this.last.lostAt + 2 * SILENCE_S * 1000;
  }

  private beat(connection: Connection): void {
    const silence = setTimeout(() => this.drop(connection), HEARTBEAT_MS).unref();
    connection.query('SELECT 1').then(
      () => clearTimeout(silence),
      () => this.drop(connection),
    );
  }

  private drop(connection: Connection): void {
    if (this.connection !== connection) return;
    this.connection = null;
    if (this.last) this.last.lostAt = steadyNow();
    connection.destroy();
    if (!this.isClosed) this.takeAgain();
  }

  private takeAgain(): void {
    this.take().catch(() => {
      if (!this.isClosed && !this.lost) this.retry = setTimeout(() => this.takeAgain(), RETRY_MS).unref();
    });
  }

  private lockedElsewhere(): AppError {
    const error = new AppError(
      'DATABASE_LOCKED',
      `The MariaDB database ${this.name} belongs to another running Jackdaw. Stop that one, or set REDIS_URL on all of them to make them a cluster.`,
      LOCKED,
    );
    if (this.last) {
      this.lost = error;
      this.logger.fatal(
        `${error.message} It took over when the connection of this process was lost: this process writes nothing more.`,
      );
    }
    return error;
  }
}
