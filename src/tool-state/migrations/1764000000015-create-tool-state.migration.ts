import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  bigintColumn,
  integerColumn,
  SchemaBuilder,
  stringColumn,
  textColumn,
  type TableDefinition,
} from '../../persistence/schema/index.js';

const key = { isPrimary: true };
const nullable = { isNullable: true };

const TOOL_STATE: TableDefinition = {
  name: 'tool_state',
  columns: [
    stringColumn('id', 64, key),
    stringColumn('tenant', 128),
    stringColumn('session_id', 128),
    stringColumn('tool', 128),
    integerColumn('revision'),
    bigintColumn('created_at'),
    bigintColumn('used_at'),
    bigintColumn('expires_at', nullable),
    integerColumn('is_of_run'),
    integerColumn('last_history'),
    stringColumn('last_change', 255, nullable),
  ],
  indexes: [
    { name: 'tool_state_by_tenant', columns: ['tenant', 'id'] },
    { name: 'tool_state_by_session', columns: ['tenant', 'session_id', 'id'] },
    { name: 'tool_state_by_tool', columns: ['tenant', 'tool', 'id'] },
    { name: 'tool_state_by_expiry', columns: ['expires_at'], onlyWith: 'expires_at' },
  ],
};

const TOOL_STATE_ENTRY: TableDefinition = {
  name: 'tool_state_entry',
  columns: [
    stringColumn('context_id', 64, key),
    stringColumn('type', 16, key),
    stringColumn('tenant', 128),
    textColumn('data'),
    integerColumn('version'),
    bigintColumn('created_at'),
    bigintColumn('updated_at'),
    bigintColumn('expires_at', nullable),
  ],
};

const TOOL_STATE_VERSION: TableDefinition = {
  name: 'tool_state_version',
  columns: [
    stringColumn('context_id', 64, key),
    integerColumn('version', key),
    stringColumn('tenant', 128),
    textColumn('data'),
    stringColumn('made_by', 255, nullable),
    bigintColumn('created_at'),
  ],
};

const TOOL_STATE_HISTORY: TableDefinition = {
  name: 'tool_state_history',
  columns: [
    stringColumn('context_id', 64, key),
    integerColumn('n', key),
    stringColumn('tenant', 128),
    stringColumn('kind', 32),
    textColumn('data'),
    stringColumn('made_by', 255, nullable),
    bigintColumn('created_at'),
  ],
};

const TOOL_STATE_CHANGE: TableDefinition = {
  name: 'tool_state_change',
  columns: [
    stringColumn('id', 64, key),
    stringColumn('context_id', 64),
    stringColumn('tenant', 128),
    textColumn('data'),
    bigintColumn('created_at'),
  ],
  indexes: [
    { name: 'tool_state_change_by_context', columns: ['context_id', 'created_at'] },
    { name: 'tool_state_change_by_age', columns: ['created_at'] },
  ],
};

const TABLES = [TOOL_STATE, TOOL_STATE_ENTRY, TOOL_STATE_VERSION, TOOL_STATE_HISTORY, TOOL_STATE_CHANGE];

export class CreateToolState1764000000015 implements MigrationInterface {
  readonly name = 'CreateToolState1764000000015';

  async up(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    for (const table of TABLES) await schema.createTable(table);
  }

  async down(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    for (const { name } of TABLES.toReversed()) await schema.dropTable(name);
  }
}
