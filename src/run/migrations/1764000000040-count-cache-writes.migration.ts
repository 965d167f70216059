import type { MigrationInterface, QueryRunner } from 'typeorm';
import { bigintColumn, SchemaBuilder } from '../../persistence/schema/index.js';

const COLUMNS = [bigintColumn('cache_write_tokens', { isNullable: true })];

/** Prompt tokens that a provider wrote to its cache. Older code ignores the column. */
export class CountCacheWrites1764000000040 implements MigrationInterface {
  readonly name = 'CountCacheWrites1764000000040';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).addColumns('run_usage', COLUMNS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropColumns(
      'run_usage',
      COLUMNS.map(({ name }) => name),
    );
  }
}
