import { Table, TableIndex, type MigrationInterface, type QueryRunner, type TableColumnOptions } from 'typeorm';

const text = (name: string): TableColumnOptions => ({ name, type: 'text' });
const integer = (name: string): TableColumnOptions => ({ name, type: 'integer' });
const time = (name: string, isNullable = false): TableColumnOptions => ({ name, type: 'bigint', isNullable });
const string = (name: string, length: number, more: Partial<TableColumnOptions> = {}): TableColumnOptions => ({
  name,
  type: 'varchar',
  length: String(length),
  ...more,
});
const key = { isPrimary: true };

const RUN = new Table({
  name: 'run',
  withoutRowid: true,
  columns: [
    string('id', 64, key),
    string('tenant', 128),
    text('principal'),
    string('kind', 32),
    string('agent', 128),
    string('session_id', 128, { isNullable: true }),
    string('session_slot', 300, { isNullable: true }),
    string('status', 16),
    integer('epoch'),
    integer('attempts'),
    integer('loop_version'),
    string('definition_hash', 64),
    text('input'),
    time('timeout_ms'),
    time('cancel_requested_at', true),
    time('created_at'),
    time('finished_at', true),
  ],
  indices: [
    new TableIndex({ name: 'run_by_status', columnNames: ['status', 'created_at'] }),
    new TableIndex({ name: 'run_session_slot', columnNames: ['session_slot'], isUnique: true }),
  ],
});

const RUN_STEP = new Table({
  name: 'run_step',
  withoutRowid: true,
  columns: [
    string('run_id', 64, key),
    string('name', 128, key),
    string('tenant', 128),
    string('kind', 32),
    string('subject', 256),
    text('result'),
    integer('epoch'),
    time('created_at'),
  ],
});

const RUN_EVENT = new Table({
  name: 'run_event',
  withoutRowid: true,
  columns: [
    string('run_id', 64, key),
    { ...integer('n'), isPrimary: true },
    string('tenant', 128),
    string('type', 32),
    text('data'),
    time('created_at'),
  ],
});

const RUN_DEFINITION = new Table({
  name: 'run_definition',
  withoutRowid: true,
  columns: [string('tenant', 128, key), string('hash', 64, key), text('content'), time('created_at')],
});

const TABLES = [RUN, RUN_STEP, RUN_EVENT, RUN_DEFINITION];

export class CreateRun1764000000000 implements MigrationInterface {
  readonly name = 'CreateRun1764000000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.createTable(table);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES.toReversed()) await runner.dropTable(table);
  }
}
