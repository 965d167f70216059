import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  bigintColumn,
  integerColumn,
  SchemaBuilder,
  stringColumn,
  type TableDefinition,
} from '../../persistence/schema/index.js';

const CREATION_KEY: TableDefinition = {
  name: 'creation_key',
  columns: [
    stringColumn('tenant', 128, { isPrimary: true }),
    stringColumn('idem_key', 64, { isPrimary: true }),
    stringColumn('body_hash', 64),
    stringColumn('created_id', 64),
    integerColumn('is_created'),
    bigintColumn('created_at'),
  ],
  indexes: [{ name: 'creation_key_by_age', columns: ['created_at'] }],
};

export class CreateCreationKey1764000000023 implements MigrationInterface {
  readonly name = 'CreateCreationKey1764000000023';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).createTable(CREATION_KEY);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropTable(CREATION_KEY.name);
  }
}
