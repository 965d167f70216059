import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  bigintColumn,
  SchemaBuilder,
  stringColumn,
  textColumn,
  type TableDefinition,
} from '../../persistence/schema/index.js';

const key = { isPrimary: true };
const nullable = { isNullable: true };

const MCP_TOOL_PIN: TableDefinition = {
  name: 'mcp_tool_pin',
  columns: [
    stringColumn('server', 32, key),
    stringColumn('tool', 128, key),
    stringColumn('digest', 64, nullable),
    textColumn('definition', nullable),
    stringColumn('pending_digest', 64, nullable),
    textColumn('pending_definition', nullable),
    textColumn('findings', nullable),
    stringColumn('decided_by', 128, nullable),
    bigintColumn('changed_at'),
  ],
};

const MCP_SERVER: TableDefinition = {
  name: 'mcp_server',
  columns: [
    stringColumn('name', 32, key),
    textColumn('declaration'),
    stringColumn('created_by', 128),
    bigintColumn('created_at'),
  ],
};

export class CreateMcp1764000000016 implements MigrationInterface {
  readonly name = 'CreateMcp1764000000016';

  async up(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    for (const table of [MCP_TOOL_PIN, MCP_SERVER]) await schema.createTable(table);
  }

  async down(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    for (const { name } of [MCP_SERVER, MCP_TOOL_PIN]) await schema.dropTable(name);
  }
}
