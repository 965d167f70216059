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
const counted = { default: '0' };

const SESSION_COLUMNS = [textColumn('metadata', nullable)];
const SESSION_INDEX = { name: 'session_by_age', columns: ['tenant', 'created_at', 'id'] };

const TURN_COLUMNS = [
  integerColumn('message_count', counted),
  integerColumn('tokens', counted),
  integerColumn('plain_tokens', counted),
  integerColumn('mark', nullable),
];
const TURN_INDEX = { name: 'session_turn_marked', columns: ['tenant', 'session_id', 'mark'], onlyWith: 'mark' };

const SESSION_SUMMARY: TableDefinition = {
  name: 'session_summary',
  columns: [
    stringColumn('tenant', 128, key),
    stringColumn('session_id', 128, key),
    integerColumn('through', key),
    textColumn('summary'),
    integerColumn('tokens'),
    bigintColumn('created_at'),
  ],
};

export class ExtendSession1764000000006 implements MigrationInterface {
  readonly name = 'ExtendSession1764000000006';

  async up(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.addColumns('session', SESSION_COLUMNS);
    await schema.createIndex('session', SESSION_INDEX);
    await schema.addColumns('session_turn', TURN_COLUMNS);
    await schema.createIndex('session_turn', TURN_INDEX);
    await schema.createTable(SESSION_SUMMARY);
  }

  async down(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.dropTable(SESSION_SUMMARY.name);
    await schema.dropIndex('session_turn', TURN_INDEX.name);
    await schema.dropColumns(
      'session_turn',
      TURN_COLUMNS.map(({ name }) => name),
    );
    await schema.dropIndex('session', SESSION_INDEX.name);
    await schema.dropColumns(
      'session',
      SESSION_COLUMNS.map(({ name }) => name),
    );
  }
}
