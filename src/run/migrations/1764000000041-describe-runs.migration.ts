import type { MigrationInterface, QueryRunner } from 'typeorm';
import { integerColumn, SchemaBuilder, stringColumn, textColumn } from '../../persistence/schema/index.js';

const nullable = { isNullable: true };

const COLUMNS = [
  stringColumn('error_code', 64, nullable),
  textColumn('preview', nullable),
  integerColumn('pending', nullable),
];

/** Error code, question and open decisions of a run, for lists. Older code ignores the columns. */
export class DescribeRuns1764000000041 implements MigrationInterface {
  readonly name = 'DescribeRuns1764000000041';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).addColumns('run', COLUMNS);
  }

  async down(runner: QueryRunner): Promise<void> {
    const names = COLUMNS.map(({ name }) => name);
    await new SchemaBuilder(runner).dropColumns('run', names.toReversed());
  }
}
