import type { MigrationInterface, QueryRunner } from 'typeorm';
import { bigintColumn, SchemaBuilder, stringColumn, type TableDefinition } from '../../persistence/schema/index.js';

const ACCESS_LOG: TableDefinition = {
  name: 'access_log',
  columns: [
    stringColumn('id', 64, { isPrimary: true }),
    stringColumn('tenant', 128),
    bigintColumn('at'),
    stringColumn('principal', 128),
    stringColumn('action', 32),
    stringColumn('target_kind', 32),
    stringColumn('target_id', 128),
  ],
  indexes: [
    { name: 'access_log_by_tenant', columns: ['tenant', 'at', 'id'] },
    { name: 'access_log_by_age', columns: ['at'] },
  ],
};

/** Who read what. */
export class CreateAccessLog1764000000008 implements MigrationInterface {
  readonly name = 'CreateAccessLog1764000000008';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).createTable(ACCESS_LOG);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropTable(ACCESS_LOG.name);
  }
}
