import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  bigintColumn,
  integerColumn,
  SchemaBuilder,
  stringColumn,
  type TableDefinition,
} from '../../../persistence/schema/index.js';

const CALL_RATE: TableDefinition = {
  name: 'call_rate',
  columns: [stringColumn('id', 64, { isPrimary: true }), integerColumn('calls'), bigintColumn('resets_at')],
};

export class CreateCallRate1764000000011 implements MigrationInterface {
  readonly name = 'CreateCallRate1764000000011';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).createTable(CALL_RATE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropTable(CALL_RATE.name);
  }
}
