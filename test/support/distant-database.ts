import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntitySchemaOptions, ObjectLiteral } from 'typeorm';
import { Database } from '../../src/persistence/index.js';
import type { Table } from '../../src/persistence/schema/index.js';
import type { CommitOptions, SqlValue, Statement } from '../../src/persistence/statement/index.js';

/** A remote database: every query takes turns of the event loop in both directions. */
export class DistantDatabase extends Database {
  readonly dialect = 'sqlite';
  delays: readonly number[] = [];
  private asked = 0;

  constructor(private readonly near: Database) {
    super();
  }
  override commit(batch: readonly Statement[], options?: CommitOptions): Promise<void> {
    return this.near.commit(batch, options);
  }
  override async query<Row>(sql: string, params?: readonly SqlValue[]): Promise<Row[]> {
    await turns(this.delay());
    const rows = await this.near.query<Row>(sql, params);
    await turns(this.delay());
    return rows;
  }
  override table<T extends ObjectLiteral>(schema: EntitySchemaOptions<T>): Table<T> {
    return this.near.table(schema);
  }
  protected override run<Result>(statement: () => Promise<Result>): Promise<Result> {
    return statement();
  }
  override ping(): Promise<void> {
    return this.near.ping();
  }
  protected apply(batch: readonly Statement[], options?: CommitOptions): Promise<void> {
    return this.commit(batch, options);
  }
  protected read<Row>(sql: string, params: readonly SqlValue[]): Promise<Row[]> {
    return this.query(sql, params);
  }
  protected override drain(): Promise<void> {
    return this.near.close();
  }
  private delay(): number {
    return this.delays[this.asked++ % this.delays.length] ?? 0;
  }
}

/** Waits for turns of the event loop. */
export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await nextTurn();
}
