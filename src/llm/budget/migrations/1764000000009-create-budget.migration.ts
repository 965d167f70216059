import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  bigintColumn,
  SchemaBuilder,
  stringColumn,
  textColumn,
  type TableDefinition,
} from '../../../persistence/schema/index.js';

const ENTRY: TableDefinition = {
  name: 'budget_entry',
  columns: [
    stringColumn('id', 200, { isPrimary: true }),
    stringColumn('tenant', 128),
    stringColumn('holder', 64),
    bigintColumn('tokens'),
    bigintColumn('cost'),
    textColumn('scopes'),
    bigintColumn('expires_at', { isNullable: true }),
    bigintColumn('updated_at'),
  ],
  indexes: [
    { name: 'budget_entry_by_expiry', columns: ['expires_at'] },
    { name: 'budget_entry_by_update', columns: ['updated_at'] },
  ],
};

const TOTAL: TableDefinition = {
  name: 'budget_total',
  columns: [
    stringColumn('scope', 300, { isPrimary: true }),
    stringColumn('tenant', 128),
    bigintColumn('tokens'),
    bigintColumn('cost'),
    bigintColumn('kept_until', { isNullable: true }),
  ],
};

export class CreateBudget1764000000009 implements MigrationInterface {
  readonly name = 'CreateBudget1764000000009';

  async up(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    for (const table of [ENTRY, TOTAL]) await schema.createTable(table);
  }

  async down(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    for (const { name } of [TOTAL, ENTRY]) await schema.dropTable(name);
  }
}
