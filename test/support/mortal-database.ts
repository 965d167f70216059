import type { EntitySchemaOptions, ObjectLiteral } from 'typeorm';
import { Database } from '../../src/persistence/index.js';
import type { Table } from '../../src/persistence/schema/index.js';
import type { CommitOptions, SqlValue, Statement } from '../../src/persistence/statement/index.js';

/** The death of a process: at its `commits`-th commit, before or after the commit is durable. */
export interface Death {
  readonly commits: number;
  readonly isDurable: boolean;
}

/** A process as the database sees it: alive for some commits, then gone without a message. */
export class MortalDatabase extends Database {
  readonly dialect = 'sqlite';
  override readonly keepsOrder = true;
  isDead = false;
  readonly died: Promise<void>;
  private die: () => void;
  private commits = 0;
  private readonly grave = Promise.withResolvers<never>();

  constructor(
    private readonly real: Database,
    private readonly death: Death | undefined,
  ) {
    super();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.died = promise;
    this.die = resolve;
    this.grave.promise.catch(() => undefined);
  }
  /** A promise that a dead process never resolves. */
  get silence(): Promise<never> {
    return this.grave.promise;
  }
  /** Rejects every promise that still waits for the dead process. */
  bury(): void {
    this.isDead = true;
    this.grave.reject(new Error('dead'));
  }
  override async commit(batch: readonly Statement[], options?: CommitOptions): Promise<void> {
    if (this.isDead) return this.silence;
    if (this.commits++ !== this.death?.commits) return this.real.commit(batch, options);
    this.isDead = true;
    if (this.death.isDurable) await this.real.commit(batch, options).catch(() => undefined);
    this.die();
    return this.silence;
  }
  override query<Row>(sql: string, params?: readonly SqlValue[]): Promise<Row[]> {
    return this.isDead ? this.silence : this.real.query(sql, params);
  }
  override table<T extends ObjectLiteral>(schema: EntitySchemaOptions<T>): Table<T> {
    return this.real.table(schema);
  }
  protected override run<Result>(statement: () => Promise<Result>): Promise<Result> {
    return statement();
  }
  override ping(): Promise<void> {
    return this.real.ping();
  }
  protected apply(batch: readonly Statement[], options?: CommitOptions): Promise<void> {
    return this.commit(batch, options);
  }
  protected read<Row>(sql: string, params: readonly SqlValue[]): Promise<Row[]> {
    return this.query(sql, params);
  }
  protected override drain(): Promise<void> {
    return this.real.close();
  }
}
