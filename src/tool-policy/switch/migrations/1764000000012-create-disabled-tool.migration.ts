import type { MigrationInterface, QueryRunner } from 'typeorm';
import { bigintColumn, SchemaBuilder, stringColumn, type TableDefinition } from '../../../persistence/schema/index.js';

const key = { isPrimary: true };

const DISABLED_TOOL: TableDefinition = {
  name: 'disabled_tool',
  columns: [
    stringColumn('tenant', 128, key),
    stringColumn('name', 64, key),
    stringColumn('disabled_by', 128),
    bigintColumn('disabled_at'),
  ],
};

export class CreateDisabledTool1764000000012 implements MigrationInterface {
  readonly name = 'CreateDisabledTool1764000000012';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).createTable(DISABLED_TOOL);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropTable(DISABLED_TOOL.name);
  }
}
