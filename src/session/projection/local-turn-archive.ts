import type { SessionKey, StoredTurn } from '../session.types.js';
import { TurnArchive, type TurnChange } from './turn-archive.js';

/**
 * A store of one process, which applies changes sequentially, so that no change is late. Every change is idempotent.
 */
export abstract class LocalTurnArchive extends TurnArchive {
  async apply(key: SessionKey, seq: number, change: TurnChange): Promise<number> {
    await this.do(key, change);
    return seq;
  }

  protected abstract put(key: SessionKey, turn: StoredTurn): Promise<void>;
  protected abstract setMark(key: SessionKey, turn: number, mark: number | null): Promise<void>;
  /** Removes the turns up to `through`. */
  protected abstract remove(key: SessionKey, through: number): Promise<void>;
  /** Removes these turns. */
  protected abstract drop(key: SessionKey, turns: readonly number[]): Promise<void>;

  private async do(key: SessionKey, change: TurnChange): Promise<void> {
    switch (change.kind) {
      case 'append': {
        const { turn, mark } = change.turn;
        await this.put(key, change.turn);
        return mark === null ? undefined : this.setMark(key, turn, mark);
      }
      case 'remove':
        return this.remove(key, change.through);
      case 'drop':
        return this.drop(key, change.turns);
      case 'mark':
        return this.setMark(key, change.turn, change.mark);
      case 'refer': {
        const mark = (await this.marks(key)).get(change.turn) ?? 0;
        if (mark < change.by) await this.setMark(key, change.turn, change.by);
      }
    }
  }
}
