import type { MigrationInterface, QueryRunner } from 'typeorm';
import { SchemaBuilder, stringColumn } from '../../../persistence/schema/index.js';

const COLUMN = stringColumn('visibility', 8, { isNullable: true });

export class AddKeyVisibility1764000000018 implements MigrationInterface {
  readonly name = 'AddKeyVisibility1764000000018';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).addColumns('api_key', [COLUMN]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropColumns('api_key', [COLUMN.name]);
  }
}
