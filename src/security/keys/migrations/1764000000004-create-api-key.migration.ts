import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  bigintColumn,
  SchemaBuilder,
  stringColumn,
  textColumn,
  type TableDefinition,
} from '../../../persistence/schema/index.js';

const API_KEY: TableDefinition = {
  name: 'api_key',
  columns: [
    stringColumn('id', 64, { isPrimary: true }),
    stringColumn('tenant', 128),
    stringColumn('sha256', 64),
    stringColumn('name', 100),
    stringColumn('role', 16),
    textColumn('scopes'),
    bigintColumn('created_at'),
    stringColumn('created_by', 128),
    bigintColumn('expires_at', { isNullable: true }),
    bigintColumn('revoked_at', { isNullable: true }),
    bigintColumn('last_used_at', { isNullable: true }),
  ],
  indexes: [
    { name: 'api_key_by_sha256', columns: ['sha256'], isUnique: true },
    { name: 'api_key_by_tenant', columns: ['tenant', 'id'] },
  ],
};

export class CreateApiKey1764000000004 implements MigrationInterface {
  readonly name = 'CreateApiKey1764000000004';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).createTable(API_KEY);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropTable(API_KEY.name);
  }
}
