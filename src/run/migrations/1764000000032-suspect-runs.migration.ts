import type { MigrationInterface, QueryRunner } from 'typeorm';
import { bigintColumn, integerColumn, SchemaBuilder } from '../../persistence/schema/index.js';

const COLUMNS = [integerColumn('suspicions', { default: '0' }), bigintColumn('recovered_at', { isNullable: true })];

/** Runs that may have crashed the process. Older code ignores the columns: it ends a run after three crashes of any cause. */
export class SuspectRuns1764000000032 implements MigrationInterface {
  readonly name = 'SuspectRuns1764000000032';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).addColumns('run', COLUMNS);
  }

  async down(runner: QueryRunner): Promise<void> {
    const names = COLUMNS.map(({ name }) => name);
    await new SchemaBuilder(runner).dropColumns('run', names.toReversed());
  }
}
