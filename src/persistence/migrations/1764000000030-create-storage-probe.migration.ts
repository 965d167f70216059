import type { MigrationInterface, QueryRunner } from 'typeorm';
import { bigintColumn, integerColumn } from '../schema/column.factory.js';
import { SchemaBuilder, type TableDefinition } from '../schema/schema.builder.js';

/** A table with one row, which proves that the database can write. */
export const STORAGE_PROBE: TableDefinition = {
  name: 'storage_probe',
  columns: [integerColumn('id', { isPrimary: true }), bigintColumn('written_at')],
};

export class CreateStorageProbe1764000000030 implements MigrationInterface {
  readonly name = 'CreateStorageProbe1764000000030';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).createTable(STORAGE_PROBE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropTable(STORAGE_PROBE.name);
  }
}
