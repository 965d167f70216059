import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  bigintColumn,
  SchemaBuilder,
  stringColumn,
  textColumn,
  type TableDefinition,
} from '../../persistence/schema/index.js';
import { SESSION_CHANGE } from './1764000000007-create-session-change.migration.js';

const TURN_CHANGE: TableDefinition = {
  name: 'turn_change',
  columns: [
    bigintColumn('seq', { isPrimary: true, isCounted: true }),
    stringColumn('tenant', 128),
    stringColumn('session_id', 128),
    textColumn('change_data'),
    bigintColumn('created_at'),
  ],
  indexes: [
    { name: 'turn_change_by_session', columns: ['tenant', 'session_id', 'seq'] },
    { name: 'turn_change_by_age', columns: ['created_at'] },
  ],
};
/** Exceeds the possible number of changes in 1 ms. */
const NUMBERS_A_MS = 1000;

/** Changes were identified by their nodes' clocks; now the database numbers them. Pending changes are migrated. */
// Shares its number with CreateTurnFence: names of released migrations stay, and the order of the two does not matter.
export class CountTurnChanges1764000000017 implements MigrationInterface {
  readonly name = 'CountTurnChanges1764000000017';

  async up(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.createTable(TURN_CHANGE);
    // A store that served another journal has recorded its numbers; those of this journal must be greater.
    await schema.countFrom(TURN_CHANGE.name, 'seq', Date.now() * NUMBERS_A_MS);
    // On MariaDB an interrupted migration may have done a part of this.
    if (!(await runner.hasTable(SESSION_CHANGE.name))) return;
    await runner.query('DELETE FROM turn_change');
    await runner.query(`INSERT INTO turn_change (tenant, session_id, change_data, created_at)
      SELECT tenant, session_id, change_data, created_at FROM session_change ORDER BY created_at, id`);
    await schema.dropTable(SESSION_CHANGE.name);
  }

  async down(runner: QueryRunner): Promise<void> {
    const schema = new SchemaBuilder(runner);
    await schema.createTable(SESSION_CHANGE);
    await runner.query(`INSERT INTO session_change (tenant, session_id, id, change_data, created_at)
      SELECT tenant, session_id, CONCAT(seq, ''), change_data, created_at FROM turn_change`);
    await schema.dropTable(TURN_CHANGE.name);
  }
}
