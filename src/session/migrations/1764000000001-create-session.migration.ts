import { Table, TableIndex, type MigrationInterface, type QueryRunner } from 'typeorm';

const SESSION = new Table({
  name: 'session',
  withoutRowid: true,
  columns: [
    { name: 'tenant', type: 'varchar', length: '128', isPrimary: true },
    { name: 'id', type: 'varchar', length: '128', isPrimary: true },
    { name: 'owner', type: 'varchar', length: '128' },
    { name: 'last_turn', type: 'integer' },
    { name: 'message_count', type: 'integer' },
    { name: 'created_at', type: 'bigint' },
    { name: 'updated_at', type: 'bigint' },
  ],
});

const SESSION_TURN = new Table({
  name: 'session_turn',
  withoutRowid: true,
  columns: [
    { name: 'tenant', type: 'varchar', length: '128', isPrimary: true },
    { name: 'session_id', type: 'varchar', length: '128', isPrimary: true },
    { name: 'turn', type: 'integer', isPrimary: true },
    { name: 'run_id', type: 'varchar', length: '64' },
    { name: 'status', type: 'varchar', length: '16' },
    { name: 'messages', type: 'text' },
    { name: 'created_at', type: 'bigint' },
  ],
  indices: [new TableIndex({ name: 'session_turn_by_run', columnNames: ['run_id'], isUnique: true })],
});

export class CreateSession1764000000001 implements MigrationInterface {
  readonly name = 'CreateSession1764000000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(SESSION);
    await runner.createTable(SESSION_TURN);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable(SESSION_TURN);
    await runner.dropTable(SESSION);
  }
}
