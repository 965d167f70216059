import type { MigrationInterface, QueryRunner } from 'typeorm';
import { SchemaBuilder, stringColumn, textColumn } from '../../persistence/schema/index.js';

const nullable = { isNullable: true };
const ADDED = [
  stringColumn('reason', 16, nullable),
  textColumn('hints', nullable),
  stringColumn('version', 128, nullable),
];

/** Older code ignores these columns: in its rows they are absent. */
export class ExtendToolPin1764000000021 implements MigrationInterface {
  readonly name = 'ExtendToolPin1764000000021';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).addColumns('mcp_tool_pin', ADDED);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropColumns(
      'mcp_tool_pin',
      ADDED.map(({ name }) => name),
    );
  }
}
