import type { MigrationInterface, QueryRunner } from 'typeorm';
import { bigintColumn, SchemaBuilder, stringColumn, type TableDefinition } from '../../persistence/schema/index.js';

const key = { isPrimary: true };

const TURN_FENCE: TableDefinition = {
  name: 'turn_fence',
  columns: [
    stringColumn('tenant', 128, key),
    stringColumn('session_id', 128, key),
    bigintColumn('seq'),
    bigintColumn('updated_at'),
  ],
  indexes: [{ name: 'turn_fence_by_age', columns: ['updated_at'] }],
};

/** The last applied change of each session, if turns are stored outside the journal's database. */
// Shares its number with CountTurnChanges: names of released migrations stay, and the order of the two does not matter.
export class CreateTurnFence1764000000017 implements MigrationInterface {
  readonly name = 'CreateTurnFence1764000000017';

  async up(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).createTable(TURN_FENCE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new SchemaBuilder(runner).dropTable(TURN_FENCE.name);
  }
}
