import type { SessionKey, StoredTurn } from '../session.types.js';
import { LocalTurnArchive, type TurnSpan } from './turn-archive.js';

interface StoredSession {
  last: number;
  readonly turns: Map<number, StoredTurn>;
  readonly marks: Map<number, number>;
}

function nothing(): StoredSession {
  return { last: 0, turns: new Map(), marks: new Map() };
}

/** Turns in memory, lost when the process ends: for tests and trials. */
export class MemoryTurnArchive extends LocalTurnArchive {
  private readonly sessions = new Map<string, StoredSession>();

  protected async put(key: SessionKey, turn: StoredTurn): Promise<void> {
    const session = this.stored(key);
    this.sessions.set(nameOf(key), session);
    session.turns.set(turn.turn, turn);
    session.last = Math.max(session.last, turn.turn);
  }

  async get(key: SessionKey, turns: readonly number[]): Promise<StoredTurn[]> {
    const session = this.stored(key);
    return turns.toSorted((a, b) => a - b).flatMap((turn) => session.turns.get(turn) ?? []);
  }

  async span(key: SessionKey): Promise<TurnSpan> {
    const { turns, last } = this.stored(key);
    const [first = 0] = turns.keys();
    return { first, last };
  }

  async marks(key: SessionKey): Promise<ReadonlyMap<number, number>> {
    return this.stored(key).marks;
  }

  protected async setMark(key: SessionKey, turn: number, mark: number | null): Promise<void> {
    const { marks } = this.stored(key);
    if (mark === null) marks.delete(turn);
    else if (this.stored(key).turns.has(turn)) marks.set(turn, mark);
  }

  protected async remove(key: SessionKey, through: number): Promise<void> {
    const { turns, marks } = this.stored(key);
    for (const turn of turns.keys()) if (turn <= through) turns.delete(turn);
    for (const turn of marks.keys()) if (turn <= through) marks.delete(turn);
    if (turns.size === 0) this.sessions.delete(nameOf(key));
  }

  protected async drop(key: SessionKey, dropped: readonly number[]): Promise<void> {
    const { turns, marks } = this.stored(key);
    for (const turn of dropped) {
      turns.delete(turn);
      marks.delete(turn);
    }
  }

  async close(): Promise<void> {
    this.sessions.clear();
  }

  private stored(key: SessionKey): StoredSession {
    return this.sessions.get(nameOf(key)) ?? nothing();
  }
}

function nameOf({ tenant, id }: SessionKey): string {
  return JSON.stringify([tenant, id]);
}
