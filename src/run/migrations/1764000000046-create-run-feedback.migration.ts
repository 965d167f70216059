import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  bigintColumn,
  integerColumn,
  SchemaBuilder,
  stringColumn,
  textColumn,
  type TableDefinition,
} from '../../persistence/schema/index.js';

const FEEDBACK: TableDefinition = {
  name: 'run_feedback',
  columns: [
    stringColumn('run_id', 64, { isPrimary: true }),
    stringColumn('given_by', 128, { isPrimary: true }),
    stringColumn('tenant', 128),
    stringColumn('principal_id', 128, { isNullable: true }),
    stringColumn('agent', 255),
    // Thousandths.
    integerColumn('score', { isNullable: true }),
    textColumn('comment', { isNullable: true }),
    textColumn('correction', { isNullable: true }),
    bigintColumn('created_at'),
  ],
  indexes: [{ name: 'run_feedback_by_time', columns: ['tenant', 'created_at'] }],
};

/** Feedback of people on runs. Older code ignores the table. */
export class CreateRunFeedback1764000000046 implements MigrationInterface {
  readonly name = 'CreateRunFeedback1764000000046';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).createTable(FEEDBACK);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropTable(FEEDBACK.name);
  }
}
