import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  bigintColumn,
  SchemaBuilder,
  stringColumn,
  textColumn,
  type TableDefinition,
} from '../../../persistence/schema/index.js';

const CALL_APPROVAL: TableDefinition = {
  name: 'call_approval',
  columns: [
    stringColumn('tenant', 128, { isPrimary: true }),
    stringColumn('id', 64, { isPrimary: true }),
    stringColumn('scope', 16),
    stringColumn('run_id', 64),
    stringColumn('session_id', 128, { isNullable: true }),
    stringColumn('owner', 128),
    stringColumn('tool', 64),
    stringColumn('definition', 64),
    textColumn('addresses'),
    textColumn('decider'),
    bigintColumn('decided_at'),
  ],
  indexes: [
    { name: 'call_approval_by_session', columns: ['tenant', 'session_id', 'tool'] },
    { name: 'call_approval_by_run', columns: ['tenant', 'run_id', 'tool'] },
  ],
};

export class CreateCallApproval1764000000026 implements MigrationInterface {
  readonly name = 'CreateCallApproval1764000000026';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).createTable(CALL_APPROVAL);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropTable(CALL_APPROVAL.name);
  }
}
