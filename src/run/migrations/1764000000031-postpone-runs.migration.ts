import type { MigrationInterface, QueryRunner } from 'typeorm';
import { bigintColumn, integerColumn, SchemaBuilder, stringColumn } from '../../persistence/schema/index.js';

const nullable = { isNullable: true };

const COLUMNS = [
  integerColumn('is_patient', { default: '0' }),
  bigintColumn('not_before', nullable),
  bigintColumn('outage_since', nullable),
  stringColumn('outage_code', 64, nullable),
];

/** Runs that outlast an outage of their provider. Older code ignores the columns: it starts a postponed run at once. */
export class PostponeRuns1764000000031 implements MigrationInterface {
  readonly name = 'PostponeRuns1764000000031';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).addColumns('run', COLUMNS);
  }

  async down(runner: QueryRunner): Promise<void> {
    const names = COLUMNS.map(({ name }) => name);
    await new SchemaBuilder(runner).dropColumns('run', names.toReversed());
  }
}
