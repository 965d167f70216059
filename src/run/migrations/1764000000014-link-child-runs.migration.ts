import type { MigrationInterface, QueryRunner } from 'typeorm';
import { integerColumn, SchemaBuilder, stringColumn } from '../../persistence/schema/index.js';

const nullable = { isNullable: true };

const COLUMNS = [
  stringColumn('parent_run_id', 64, nullable),
  stringColumn('parent_step', 64, nullable),
  stringColumn('root_run_id', 64, nullable),
  integerColumn('depth', { default: '0' }),
];
const INDEX = { name: 'run_by_parent', columns: ['parent_run_id'], onlyWith: 'parent_run_id' };

export class LinkChildRuns1764000000014 implements MigrationInterface {
  readonly name = 'LinkChildRuns1764000000014';

  async up(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.addColumns('run', COLUMNS);
    await schema.createIndex('run', INDEX);
  }

  async down(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.dropIndex('run', INDEX.name);
    const names = COLUMNS.map(({ name }) => name);
    await schema.dropColumns('run', names.toReversed());
  }
}
