import { refusalOf, type Database } from '../../persistence/index.js';
import type { Statement } from '../../persistence/statement/index.js';
import type { SessionKey, StoredTurn } from '../session.types.js';
import { JournalTurnStore } from '../turns/journal-turn-store.js';
import { TurnArchive, type TurnChange, type TurnSpan } from './turn-archive.js';
import { PLAIN_CIPHER } from '../../security/encryption/index.js';

/** Retention of a change's number, in ms: a node may be delayed for this long. */
const FENCE_MS = 86_400_000;

/** Turns in a database other than the journal's. */
export class DatabaseTurnArchive extends TurnArchive {
  private readonly turns: JournalTurnStore;

  /** @param close closes the database */
  constructor(
    private readonly database: Database,
    override readonly close: () => Promise<void>,
  ) {
    super();
    this.turns = new JournalTurnStore(database, PLAIN_CIPHER);
  }

  async apply(key: SessionKey, seq: number, change: TurnChange): Promise<number> {
    try {
      await this.database.commit([...this.isNext(key, seq), ...this.statements(key, change)]);
      return seq;
    } catch (error) {
      if (refusalOf(error) !== 'rows') throw error;
      const done = await this.lastDone(key);
      // The number was pruned meanwhile.
      return done < seq ? this.apply(key, seq, change) : done;
    }
  }

  override forgetDone({ tenant, id }: SessionKey): Promise<void> {
    const sql = 'DELETE FROM turn_fence WHERE tenant = ? AND session_id = ?';
    return this.database.commit([{ sql, params: [tenant, id] }]);
  }

  override prune(now: number): Promise<void> {
    return this.database.commit([{ sql: 'DELETE FROM turn_fence WHERE updated_at < ?', params: [now - FENCE_MS] }]);
  }

  override purge(): Promise<void> {
    return this.database.purge();
  }

  get(key: SessionKey, turns: readonly number[]): Promise<StoredTurn[]> {
    return this.turns.read(key, { through: Number.MAX_SAFE_INTEGER, newest: 0, only: turns });
  }

  async span({ tenant, id }: SessionKey): Promise<TurnSpan> {
    const [row] = await this.database.query<{ first: number | null; last: number | null }>(
      'SELECT MIN(turn) AS first, MAX(turn) AS last FROM session_turn WHERE tenant = ? AND session_id = ?',
      [tenant, id],
    );
    return { first: row?.first ?? 0, last: row?.last ?? 0 };
  }

  async marks({ tenant, id }: SessionKey): Promise<ReadonlyMap<number, number>> {
    const rows = await this.database.query<{ turn: number; mark: number }>(
      'SELECT turn, mark FROM session_turn WHERE tenant = ? AND session_id = ? AND mark IS NOT NULL',
      [tenant, id],
    );
    return new Map(rows.map(({ turn, mark }) => [turn, mark]));
  }

  /** Stores the change's number; rejects the batch if the change was applied before. */
  private isNext({ tenant, id }: SessionKey, seq: number): Statement[] {
    const now = Date.now();
    return [
      this.database.insertIgnore('turn_fence', { tenant, session_id: id, seq: 0, updated_at: now }),
      {
        sql: 'UPDATE turn_fence SET seq = ?, updated_at = ? WHERE tenant = ? AND session_id = ? AND seq < ?',
        params: [seq, now, tenant, id, seq],
        rows: 1,
      },
    ];
  }

  private statements(key: SessionKey, change: TurnChange): Statement[] {
    switch (change.kind) {
      case 'append':
        // Replaces an existing turn of this number. It was stored before changes were numbered, or before the journal was
        // restored from a backup.
        return [...this.turns.drop(key, [change.turn.turn]), ...this.turns.append(key, change.turn)];
      case 'remove':
        return this.turns.remove(key, change.through);
      case 'drop':
        return this.turns.drop(key, change.turns);
      case 'mark':
        return this.turns.mark(key, change.turn, change.mark);
      case 'refer':
        return this.turns.refer(key, change.turn, change.by);
    }
  }

  private async lastDone({ tenant, id }: SessionKey): Promise<number> {
    const sql = 'SELECT seq FROM turn_fence WHERE tenant = ? AND session_id = ?';
    const [row] = await this.database.query<{ seq: number }>(sql, [tenant, id]);
    return row?.seq ?? 0;
  }
}
