import { refusalOf } from '../commit-refused.error.js';
import type { FindManyOptions, FindOptionsWhere, ObjectLiteral, Repository } from 'typeorm';

/** Executes one statement of TypeORM by the rules of the database: owner, retries, refusals, outages, shutdown. */
export type StatementRunner = <Result>(use: 'read' | 'write', statement: () => Promise<Result>) => Promise<Result>;

/**
 * Rows of a table that is not on a run's path, as objects with typed properties, by TypeORM's repository. Each call is
 * one statement and durable when it resolves. Statements that belong together are a batch of `Database.commit` instead.
 */
export class Table<T extends ObjectLiteral> {
  constructor(
    private readonly repository: () => Repository<T>,
    private readonly run: StatementRunner,
  ) {}

  find(options: FindManyOptions<T>): Promise<T[]> {
    return this.run('read', () => this.repository().find(options));
  }

  async findOne(where: FindOptionsWhere<T>): Promise<T | null> {
    return (await this.find({ where, take: 1 }))[0] ?? null;
  }

  /** @throws AppError `COMMIT_REFUSED` with the reason `unique` if the row exists */
  async insert(row: T): Promise<void> {
    // TypeORM writes generated values into the object.
    await this.run('write', () => this.repository().insert({ ...row }));
  }

  /** @returns whether it was inserted; false if the row exists, which is not changed */
  async insertIfAbsent(row: T): Promise<boolean> {
    try {
      await this.insert(row);
      return true;
    } catch (error) {
      if (refusalOf(error) === 'unique') return false;
      throw error;
    }
  }

  /** @returns the number of rows that match */
  async update(where: FindOptionsWhere<T>, changes: Partial<T>): Promise<number> {
    const update = () => this.repository().update(where, changes);
    return (await this.run('write', update)).affected ?? 0;
  }

  /** @returns the number of deleted rows */
  async delete(where: FindOptionsWhere<T>): Promise<number> {
    return (await this.run('write', () => this.repository().delete(where))).affected ?? 0;
  }
}
