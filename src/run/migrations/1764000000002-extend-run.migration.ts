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

const COLUMNS = [
  bigintColumn('expires_at', nullable),
  bigintColumn('deadline_at', nullable),
  integerColumn('priority', { default: '0' }),
  stringColumn('forked_from', 64, nullable),
  bigintColumn('pruned_at', nullable),
  textColumn('summary', nullable),
];

const INDEXES = [
  { name: 'run_by_tenant', columns: ['tenant', 'created_at', 'id'] },
  { name: 'run_by_session', columns: ['tenant', 'session_id', 'created_at'], onlyWith: 'session_id' },
  { name: 'run_by_expiry', columns: ['expires_at'], onlyWith: 'expires_at' },
];

const IDEMPOTENCY_KEY: TableDefinition = {
  name: 'idempotency_key',
  columns: [
    stringColumn('tenant', 128, key),
    stringColumn('idem_key', 255, key),
    stringColumn('body_hash', 64),
    stringColumn('run_id', 64),
    bigintColumn('created_at'),
  ],
  indexes: [{ name: 'idempotency_key_by_age', columns: ['created_at'] }],
};

export class ExtendRun1764000000002 implements MigrationInterface {
  readonly name = 'ExtendRun1764000000002';

  async up(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.addColumns('run', COLUMNS);
    for (const index of INDEXES) await schema.createIndex('run', index);
    await schema.createTable(IDEMPOTENCY_KEY);
  }

  async down(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.dropTable(IDEMPOTENCY_KEY.name);
    for (const { name } of INDEXES) await schema.dropIndex('run', name);
    const names = COLUMNS.map(({ name }) => name);
    await schema.dropColumns('run', names.toReversed());
  }
}
