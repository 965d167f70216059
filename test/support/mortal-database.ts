import { Database, type CommitOptions, type SqlValue, type Statement } from '../../src/persistence/index.js';

/** When a process dies: with its `commits`-th commit, before or after the disk has it. */
export interface Death {
  readonly commits: number;
  readonly isDurable: boolean;
}

/** A process as the database sees it: alive for some commits, then gone without a word. */
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
  /** What nothing comes back from. */
  get silence(): Promise<never> {
    return this.grave.promise;
  }
  /** Lets go of whatever still waits for an answer of the dead. */
  bury(): void {
    this.isDead = true;
    this.grave.reject(new Error('dead'));
  }
  async commit(batch: readonly Statement[], options?: CommitOptions): Promise<void> {
    if (this.isDead) return this.silence;
    if (this.commits++ !== this.death?.commits) return this.real.commit(batch, options);
    this.isDead = true;
    if (this.death.isDurable) await this.real.commit(batch, options).catch(() => undefined);
    this.die();
    return this.silence;
  }
  query<Row>(sql: string, params?: readonly SqlValue[]): Promise<Row[]> {
    return this.isDead ? this.silence : this.real.query(sql, params);
  }
  ping(): Promise<void> {
    return this.real.ping();
  }
  protected override drain(): Promise<void> {
    return this.real.close();
  }
}
