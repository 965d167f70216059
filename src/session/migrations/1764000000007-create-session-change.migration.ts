import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  bigintColumn,
  SchemaBuilder,
  stringColumn,
  textColumn,
  type TableDefinition,
} from '../../persistence/schema/index.js';

const key = { isPrimary: true };

export const SESSION_CHANGE: TableDefinition = {
  name: 'session_change',
  columns: [
    stringColumn('tenant', 128, key),
    stringColumn('session_id', 128, key),
    stringColumn('id', 64, key),
    textColumn('change_data'),
    bigintColumn('created_at'),
  ],
  indexes: [{ name: 'session_change_by_age', columns: ['created_at'] }],
};

export class CreateSessionChange1764000000007 implements MigrationInterface {
  readonly name = 'CreateSessionChange1764000000007';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).createTable(SESSION_CHANGE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropTable(SESSION_CHANGE.name);
  }
}
