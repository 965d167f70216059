import type { MigrationInterface, QueryRunner } from 'typeorm';
import { SchemaBuilder, stringColumn, textColumn, type TableDefinition } from '../../persistence/schema/index.js';

const SIGNING_KEY: TableDefinition = {
  name: 'signing_key',
  columns: [stringColumn('name', 64, { isPrimary: true }), textColumn('secret')],
};

export class CreateSigningKey1764000000020 implements MigrationInterface {
  readonly name = 'CreateSigningKey1764000000020';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).createTable(SIGNING_KEY);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropTable(SIGNING_KEY.name);
  }
}
