import type { MigrationInterface, QueryRunner } from 'typeorm';
import { SchemaBuilder, stringColumn } from '../../persistence/schema/index.js';

const COLUMN = stringColumn('principal_id', 128, { isNullable: true });
const INDEX_OF = {
  run: {
    name: 'run_by_principal',
    columns: ['tenant', 'principal_id', 'created_at', 'id'],
    // SQLite has no statistics, and prefers a partial index.
    onlyWith: COLUMN.name,
  },
  run_usage: {
    name: 'run_usage_by_principal',
    columns: ['tenant', 'principal_id', 'day'],
    onlyWith: COLUMN.name,
  },
} as const;

/**
 * The owner of runs and of their usage, for queries. Existing runs record it in their principal. Where that is
 * encrypted, the owner stays unknown: only callers who see all of the tenant see such a run.
 */
// Shares its number with the migrations of sessions and keys, which the same version adds; their order does not matter.
export class OwnRuns1764000000018 implements MigrationInterface {
  readonly name = 'OwnRuns1764000000018';

  async up(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.addColumns('run', [COLUMN]);
    await schema.addColumns('run_usage', [COLUMN]);
    await schema.fillFromJson('run', COLUMN.name, 'principal', 'id');
    await runner.query(`UPDATE run_usage SET principal_id = (SELECT run.principal_id FROM run WHERE run.id = run_usage.run_id)
      WHERE principal_id IS NULL`);
    await schema.createIndex('run', INDEX_OF.run);
    await schema.createIndex('run_usage', INDEX_OF.run_usage);
  }

  async down(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    for (const table of ['run_usage', 'run'] as const) {
      await schema.dropIndex(table, INDEX_OF[table].name);
      await schema.dropColumns(table, [COLUMN.name]);
    }
  }
}
