import type { MigrationInterface, QueryRunner } from 'typeorm';
import { bigintColumn, integerColumn, SchemaBuilder, stringColumn } from '../../persistence/schema/index.js';

const nullable = { isNullable: true };

const COLUMNS = {
  run: [bigintColumn('changed_at', nullable)],
  run_step: [
    bigintColumn('started_at', nullable),
    integerColumn('first_token_ms', nullable),
    integerColumn('attempts', nullable),
    stringColumn('request_hash', 64, nullable),
  ],
  run_usage: [
    stringColumn('agent', 128, nullable),
    integerColumn('duration_ms', nullable),
    integerColumn('first_token_ms', nullable),
  ],
};
const TABLES = ['run', 'run_step', 'run_usage'] as const;
const INDEX = { name: 'run_by_change', columns: ['tenant', 'changed_at', 'id'], onlyWith: 'changed_at' };

/**
 * Times of status changes, of steps and of model calls, hashes of requests, and the agent of each call. Older code ignores the columns; runs whose
 * status it changes are not in the feed of changes.
 */
export class TimeSteps1764000000042 implements MigrationInterface {
  readonly name = 'TimeSteps1764000000042';

  async up(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    for (const table of TABLES) await schema.addColumns(table, COLUMNS[table]);
    await schema.createIndex('run', INDEX);
    await runner.query(
      'UPDATE run_usage SET agent = (SELECT run.agent FROM run WHERE run.id = run_usage.run_id) WHERE agent IS NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.dropIndex('run', INDEX.name);
    for (const table of TABLES.toReversed()) {
      const names = COLUMNS[table].map(({ name }) => name);
      await schema.dropColumns(table, names.toReversed());
    }
  }
}
