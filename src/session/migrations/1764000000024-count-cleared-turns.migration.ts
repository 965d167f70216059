import type { MigrationInterface, QueryRunner } from 'typeorm';
import { integerColumn, SchemaBuilder } from '../../persistence/schema/index.js';

const COLUMN = integerColumn('cleared_turn', { default: '0' });

/** The last turn that was cleared, so that the number of turns starts again at 0. Turn numbers continue. */
export class CountClearedTurns1764000000024 implements MigrationInterface {
  readonly name = 'CountClearedTurns1764000000024';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).addColumns('session', [COLUMN]);
    // Earlier versions did not record it: a session without messages was cleared, or has only erased turns.
    await runner.query('UPDATE session SET cleared_turn = last_turn WHERE message_count = 0');
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropColumns('session', [COLUMN.name]);
  }
}
