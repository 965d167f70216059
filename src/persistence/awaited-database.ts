import { AsyncLocalStorage } from 'node:async_hooks';
import { holdProcess } from '../kernel/index.js';
import { Database } from './database.js';
import type { DatabaseOwnership } from './database-ownership.js';
import type { CommitOptions, Dialect, SqlValue, Statement } from './statement/statement.types.js';

/** Longest wait of a call for the present owner, in ms. */
const CALL_WAIT_MS = 5_000;

type Work = () => Promise<void> | void;

/**
 * A database that another process owned at the start of the application. Each call waits some seconds for that process
 * to end, and fails with `DATABASE_LOCKED` otherwise; later calls try again.
 */
export class AwaitedDatabase extends Database {
  override readonly isOwn = true;
  /** Work for the moment of the opening, in order; `null` afterwards. */
  private waiting: Work[] | null = [];
  private starting: Promise<void> | null = null;
  /** The database once this process owns it. */
  private real: Database | null = null;
  /** Marks the calls of that work, which do not wait for it. */
  private readonly isStarting = new AsyncLocalStorage<true>();

  constructor(
    readonly dialect: Dialect,
    override readonly keepsOrder: boolean,
    private readonly ownership: DatabaseOwnership,
  ) {
    super();
  }

  protected async apply(batch: readonly Statement[], options?: CommitOptions): Promise<void> {
    const database = await this.opened();
    return database.commit(batch, options);
  }

  protected async read<Found>(sql: string, params: readonly SqlValue[]): Promise<Found[]> {
    const database = await this.opened();
    return database.query(sql, params);
  }

  protected override async run<Result>(statement: () => Promise<Result>): Promise<Result> {
    const database = await this.opened();
    return Database.runOn(database, statement);
  }

  override async proveWrite(ms: number): Promise<void> {
    const database = await this.opened();
    return database.proveWrite(ms);
  }

  override get outage(): string | null {
    return this.real?.outage ?? null;
  }

  override onFailure(listener: () => void): void {
    void this.onceOpen(() => this.real?.onFailure(listener));
  }

  override async freeBytes(): Promise<number | null> {
    return this.real?.freeBytes() ?? null;
  }

  override async available(): Promise<void> {
    await this.real?.available();
  }

  override async purge(): Promise<void> {
    const database = await this.opened();
    return database.purge();
  }

  override async onceOpen(work: Work): Promise<void> {
    if (this.waiting) this.waiting.push(work);
    else await work();
  }

  /**
   * Waits for the ownership.
   * @throws AppError `DATABASE_LOCKED` after `waitMs`, `SHUTTING_DOWN` after `close`; the error of the work for the opening
   */
  async becomeOwner(waitMs: number): Promise<Database> {
    this.assertOpen();
    const { database, dataSource } = await this.ownership.opened(waitMs);
    this.real = database;
    if (this.isStarting.getStore()) return database;
    this.useDataSource(dataSource, database.origin);
    this.starting ??= this.isStarting.run(true, () => this.startWork());
    await this.starting;
    return database;
  }

  /** The open database has written its batches when it is closed itself. */
  protected override async drain(): Promise<void> {
    await this.ownership.close();
  }

  private opened(): Promise<Database> {
    return holdProcess(this.becomeOwner(CALL_WAIT_MS));
  }

  private async startWork(): Promise<void> {
    const { waiting } = this;
    this.waiting = null;
    for (const work of waiting ?? []) await work();
  }
}
