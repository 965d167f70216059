import type { MigrationInterface, QueryRunner } from 'typeorm';
import { bigintColumn, SchemaBuilder, stringColumn } from '../../persistence/schema/index.js';

const COLUMNS = [
  stringColumn('traceparent', 55, { isNullable: true }),
  bigintColumn('traced_at', { isNullable: true }),
];

/**
 * The trace of the request that started a run or its tree, and the time of the last commit whose spans the collector has.
 * Older code ignores the columns.
 */
export class TraceRuns1764000000043 implements MigrationInterface {
  readonly name = 'TraceRuns1764000000043';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).addColumns('run', COLUMNS);
  }

  async down(runner: QueryRunner): Promise<void> {
    const names = COLUMNS.map(({ name }) => name);
    await new SchemaBuilder(runner).dropColumns('run', names.toReversed());
  }
}
