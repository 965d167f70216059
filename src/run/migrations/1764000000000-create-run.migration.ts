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

const RUN: TableDefinition = {
  name: 'run',
  columns: [
    stringColumn('id', 64, key),
    stringColumn('tenant', 128),
    textColumn('principal'),
    stringColumn('kind', 32),
    stringColumn('agent', 128),
    stringColumn('session_id', 128, nullable),
    stringColumn('session_slot', 300, nullable),
    stringColumn('status', 16),
    integerColumn('epoch'),
    integerColumn('attempts'),
    integerColumn('loop_version'),
    stringColumn('definition_hash', 64),
    textColumn('input'),
    bigintColumn('timeout_ms'),
    bigintColumn('cancel_requested_at', nullable),
    bigintColumn('created_at'),
    bigintColumn('finished_at', nullable),
  ],
  indexes: [
    { name: 'run_by_status', columns: ['status', 'tenant', 'created_at'] },
    { name: 'run_session_slot', columns: ['session_slot'], isUnique: true, onlyWith: 'session_slot' },
  ],
};

const RUN_STEP: TableDefinition = {
  name: 'run_step',
  columns: [
    stringColumn('run_id', 64, key),
    stringColumn('name', 128, key),
    stringColumn('tenant', 128),
    stringColumn('kind', 32),
    stringColumn('subject', 256),
    textColumn('result'),
    integerColumn('epoch'),
    bigintColumn('created_at'),
  ],
};

const RUN_EVENT: TableDefinition = {
  name: 'run_event',
  columns: [
    stringColumn('run_id', 64, key),
    integerColumn('n', key),
    stringColumn('tenant', 128),
    stringColumn('type', 32),
    textColumn('data'),
    bigintColumn('created_at'),
  ],
};

const RUN_DEFINITION: TableDefinition = {
  name: 'run_definition',
  columns: [
    stringColumn('tenant', 128, key),
    stringColumn('hash', 64, key),
    textColumn('content'),
    bigintColumn('created_at'),
  ],
};

const TABLES = [RUN, RUN_STEP, RUN_EVENT, RUN_DEFINITION];

export class CreateRun1764000000000 implements MigrationInterface {
  readonly name = 'CreateRun1764000000000';

  async up(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    for (const table of TABLES) await schema.createTable(table);
  }

  async down(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    for (const { name } of TABLES.toReversed()) await schema.dropTable(name);
  }
}
