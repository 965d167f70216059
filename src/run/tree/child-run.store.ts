import { Injectable } from '@nestjs/common';
import { Database } from '../../persistence/index.js';

const PAGE = 100;

/** Queries for parent and child runs. */
@Injectable()
export class ChildRunStore {
  constructor(private readonly database: Database) {}

  /** Unfinished child runs of a run. */
  async openOf(parentId: string): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      'SELECT id FROM run WHERE parent_run_id = ? AND finished_at IS NULL',
      [parentId],
    );
    return rows.map(({ id }) => id);
  }

  /** The ended runs among these. */
  async endedOf(runIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (runIds.length === 0) return new Set();
    const marks = runIds.map(() => '?').join(', ');
    const sql = `SELECT id FROM run WHERE id IN (${marks}) AND finished_at IS NOT NULL`;
    return new Set((await this.database.query<{ id: string }>(sql, [...runIds])).map(({ id }) => id));
  }

  /**
   * Up to 100 runs after the id `after` that wait although one of their children has ended; they may wait for another
   * child.
   */
  async waitingParents(after: string): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT run.id FROM run WHERE run.status = 'waiting' AND run.id > ? AND EXISTS (
          SELECT 1 FROM run child WHERE child.parent_run_id = run.id AND child.finished_at IS NOT NULL)
        ORDER BY run.id LIMIT ${PAGE}`,
      [after],
    );
    return rows.map(({ id }) => id);
  }

  /** Up to 100 runs after the id `after` that wait for a decision although their parent has ended. */
  async waitingOrphans(after: string): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT run.id FROM run WHERE run.status = 'waiting' AND run.id > ? AND EXISTS (
          SELECT 1 FROM run parent WHERE parent.id = run.parent_run_id AND parent.finished_at IS NOT NULL)
        ORDER BY run.id LIMIT ${PAGE}`,
      [after],
    );
    return rows.map(({ id }) => id);
  }
}
