import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  bigintColumn,
  integerColumn,
  SchemaBuilder,
  stringColumn,
  type TableDefinition,
} from '../../persistence/schema/index.js';

const key = { isPrimary: true };
const nullable = { isNullable: true };

const RUN_USAGE: TableDefinition = {
  name: 'run_usage',
  columns: [
    stringColumn('run_id', 64, key),
    integerColumn('n', key),
    stringColumn('tenant', 128),
    stringColumn('session_id', 128),
    stringColumn('day', 10),
    stringColumn('model', 200),
    bigintColumn('prompt_tokens'),
    bigintColumn('completion_tokens'),
    bigintColumn('total_tokens'),
    bigintColumn('cached_tokens', nullable),
    bigintColumn('reasoning_tokens', nullable),
    bigintColumn('cost', nullable),
    bigintColumn('created_at'),
  ],
  indexes: [
    { name: 'run_usage_by_tenant', columns: ['tenant', 'day'] },
    { name: 'run_usage_by_session', columns: ['tenant', 'session_id'] },
    { name: 'run_usage_by_day', columns: ['day'] },
  ],
};

/** The usage of each model call. */
export class CreateRunUsage1764000000013 implements MigrationInterface {
  readonly name = 'CreateRunUsage1764000000013';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).createTable(RUN_USAGE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropTable(RUN_USAGE.name);
  }
}
