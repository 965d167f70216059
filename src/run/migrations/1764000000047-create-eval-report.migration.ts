import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  bigintColumn,
  SchemaBuilder,
  stringColumn,
  textColumn,
  type TableDefinition,
} from '../../persistence/schema/index.js';

const REPORT: TableDefinition = {
  name: 'eval_report',
  columns: [
    stringColumn('id', 64, { isPrimary: true }),
    stringColumn('tenant', 128),
    stringColumn('principal_id', 128),
    stringColumn('name', 255),
    // The report without its results, for lists.
    textColumn('figures'),
    textColumn('results'),
    bigintColumn('created_at'),
  ],
  indexes: [{ name: 'eval_report_by_time', columns: ['tenant', 'created_at'] }],
};

/** Reports of evals. Older code ignores the table. */
export class CreateEvalReport1764000000047 implements MigrationInterface {
  readonly name = 'CreateEvalReport1764000000047';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).createTable(REPORT);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropTable(REPORT.name);
  }
}
