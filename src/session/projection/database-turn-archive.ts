import { refusalOf, type Database, type Statement } from '../../persistence/index.js';
import type { SessionKey, StoredTurn } from '../session.types.js';
import { JournalTurnStore } from '../turns/journal-turn-store.js';
import { TurnArchive, type TurnSpan } from './turn-archive.js';

/** Turns in another database than the journal's. */
export class DatabaseTurnArchive extends TurnArchive {
  private readonly turns: JournalTurnStore;

  /** @param close closes the database */
  constructor(
    private readonly database: Database,
    override readonly close: () => Promise<void>,
  ) {
    super();
    this.turns = new JournalTurnStore(database);
  }

  async put(key: SessionKey, turns: readonly StoredTurn[]): Promise<void> {
    for (const turn of turns) {
      await this.database.commit(this.turns.append(key, turn)).catch(async (error: unknown) => {
        if (refusalOf(error) !== 'unique') throw error;
        await this.assertThere(key, turn, error);
      });
    }
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

  setMark(key: SessionKey, turn: number, mark: number | null): Promise<void> {
    return this.commit(this.turns.mark(key, turn, mark));
  }

  remove(key: SessionKey, through: number): Promise<void> {
    return this.commit(this.turns.remove(key, through));
  }

  drop(key: SessionKey, turns: readonly number[]): Promise<void> {
    return this.commit(this.turns.drop(key, turns));
  }

  /** What was done before is no error; another turn in its place is. */
  private async assertThere(key: SessionKey, { turn, runId }: StoredTurn, error: unknown): Promise<void> {
    const [there] = await this.get(key, [turn]);
    if (there?.runId !== runId) throw error;
  }

  private commit(statements: readonly Statement[]): Promise<void> {
    return this.database.commit(statements);
  }
}
