import type { SessionKey, StoredTurn } from '../session.types.js';
import { LocalTurnArchive } from './local-turn-archive.js';
import type { TurnSpan } from './turn-archive.js';

interface Kept {
  last: number;
  readonly turns: Map<number, StoredTurn>;
  readonly marks: Map<number, number>;
}

function nothing(): Kept {
  return { last: 0, turns: new Map(), marks: new Map() };
}

/** Turns in memory, lost when the process ends: for tests and trials. */
export class MemoryTurnArchive extends LocalTurnArchive {
  private readonly sessions = new Map<string, Kept>();

  protected async put(key: SessionKey, turn: StoredTurn): Promise<void> {
    const kept = this.kept(key);
    this.sessions.set(nameOf(key), kept);
    kept.turns.set(turn.turn, turn);
    kept.last = Math.max(kept.last, turn.turn);
  }

  async get(key: SessionKey, turns: readonly number[]): Promise<StoredTurn[]> {
    const { turns: kept } = this.kept(key);
    return turns.toSorted((a, b) => a - b).flatMap((turn) => kept.get(turn) ?? []);
  }

  async span(key: SessionKey): Promise<TurnSpan> {
    const { turns, last } = this.kept(key);
    const [first = 0] = turns.keys();
    return { first, last };
  }

  async marks(key: SessionKey): Promise<ReadonlyMap<number, number>> {
    return this.kept(key).marks;
  }

  protected async setMark(key: SessionKey, turn: number, mark: number | null): Promise<void> {
    const { marks } = this.kept(key);
    if (mark === null) marks.delete(turn);
    else if (this.kept(key).turns.has(turn)) marks.set(turn, mark);
  }

  protected async remove(key: SessionKey, through: number): Promise<void> {
    const { turns, marks } = this.kept(key);
    for (const turn of turns.keys()) if (turn <= through) turns.delete(turn);
    for (const turn of marks.keys()) if (turn <= through) marks.delete(turn);
    if (turns.size === 0) this.sessions.delete(nameOf(key));
  }

  protected async drop(key: SessionKey, dropped: readonly number[]): Promise<void> {
    const { turns, marks } = this.kept(key);
    for (const turn of dropped) {
      turns.delete(turn);
      marks.delete(turn);
    }
  }

  async close(): Promise<void> {
    this.sessions.clear();
  }

  private kept(key: SessionKey): Kept {
    return this.sessions.get(nameOf(key)) ?? nothing();
  }
}

function nameOf({ tenant, id }: SessionKey): string {
  return JSON.stringify([tenant, id]);
}
