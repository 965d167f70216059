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

const SESSION: TableDefinition = {
  name: 'session',
  columns: [
    stringColumn('tenant', 128, key),
    stringColumn('id', 128, key),
    stringColumn('owner', 128),
    integerColumn('last_turn'),
    integerColumn('message_count'),
    bigintColumn('created_at'),
    bigintColumn('updated_at'),
  ],
};

const SESSION_TURN: TableDefinition = {
  name: 'session_turn',
  columns: [
    stringColumn('tenant', 128, key),
    stringColumn('session_id', 128, key),
    integerColumn('turn', key),
    stringColumn('run_id', 64),
    stringColumn('status', 16),
    textColumn('messages'),
    bigintColumn('created_at'),
  ],
  // A run has one turn in a session, and in each branch of it. The run's id comes first, since it grows with time.
  indexes: [{ name: 'session_turn_by_run', columns: ['run_id', 'session_id', 'tenant'], isUnique: true }],
};

export class CreateSession1764000000001 implements MigrationInterface {
  readonly name = 'CreateSession1764000000001';

  async up(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.createTable(SESSION);
    await schema.createTable(SESSION_TURN);
  }

  async down(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.dropTable(SESSION_TURN.name);
    await schema.dropTable(SESSION.name);
  }
}
