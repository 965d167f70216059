import type { FindManyOptions, FindOptionsWhere, ObjectLiteral, Repository } from 'typeorm';
import { AppError } from '../errors/index.js';
import type { RefusalReason } from './statement.types.js';

/** The error of a batch with an unmet condition; nothing of the batch was applied. */
export function commitRefused(reason: RefusalReason, statement: number, sql: string, cause?: unknown): AppError {
  const what = reason === 'rows' ? 'another request changed it first' : 'it exists already';
  // The statement's SQL is for the log only.
  return new AppError('COMMIT_REFUSED', `The write was refused and nothing was stored: ${what}.`, {
    cause: new Error(`refused: ${sql}`, { cause }),
    details: { reason, statement },
  });
}

/** Whether the first statement refused the batch, which checks the owner of the run. */
export function isRefusedAtOnce(error: unknown): boolean {
  return refusalOf(error) !== null && (error as AppError).details?.['statement'] === 0;
}

/** The reason of a refused batch; `null` for any other error. */
export function refusalOf(error: unknown): RefusalReason | null {
  if (!(error instanceof AppError) || error.code !== 'COMMIT_REFUSED') return null;
  return error.details?.['reason'] === 'unique' ? 'unique' : 'rows';
}

/** Whether a statement after the first `count` refused the batch. */
export function isRefusedAfter(cause: unknown, count: number): boolean {
  const at = refusalOf(cause) && (cause as AppError).details?.['statement'];
  return typeof at === 'number' && at >= count;
}

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
