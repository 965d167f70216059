import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  bigintColumn,
  integerColumn,
  SchemaBuilder,
  stringColumn,
  textColumn,
  type TableDefinition,
} from '../../persistence/schema/index.js';

const nullable = { isNullable: true };

const SCHEDULE: TableDefinition = {
  name: 'run_schedule',
  columns: [
    stringColumn('id', 64, { isPrimary: true }),
    stringColumn('tenant', 128),
    stringColumn('principal_id', 128),
    textColumn('principal'),
    stringColumn('kind', 16),
    stringColumn('subject', 255),
    textColumn('work'),
    stringColumn('cron', 128, nullable),
    bigintColumn('at', nullable),
    stringColumn('time_zone', 64),
    stringColumn('overlap', 16),
    stringColumn('missed', 16),
    integerColumn('is_active'),
    stringColumn('disabled_reason', 32, nullable),
    bigintColumn('next_at', nullable),
    bigintColumn('last_at', nullable),
    stringColumn('last_run_id', 64, nullable),
    stringColumn('last_outcome', 16, nullable),
    stringColumn('last_error', 64, nullable),
    bigintColumn('created_at'),
  ],
  indexes: [
    { name: 'run_schedule_due', columns: ['next_at'], onlyWith: 'next_at' },
    { name: 'run_schedule_by_tenant', columns: ['tenant', 'id'] },
  ],
};

/** Scheduled runs. Older code ignores the table. */
export class CreateRunSchedule1764000000045 implements MigrationInterface {
  readonly name = 'CreateRunSchedule1764000000045';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).createTable(SCHEDULE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropTable(SCHEDULE.name);
  }
}
