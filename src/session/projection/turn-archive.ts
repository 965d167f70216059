import type { SessionKey, StoredTurn } from '../session.types.js';

/** A change to the turns of a session. */
export type TurnChange =
  | { readonly kind: 'append'; readonly turn: StoredTurn }
  | { readonly kind: 'remove'; readonly through: number }
  | { readonly kind: 'drop'; readonly turns: readonly number[] }
  | { readonly kind: 'mark'; readonly turn: number; readonly mark: number | null }
  | { readonly kind: 'refer'; readonly turn: number; readonly by: number };

export interface TurnSpan {
  readonly first: number;
  readonly last: number;
}

/**
 * The port to a store of turns other than the journal's database. Turns are numbered without gaps, except for removed
 * turns, so that they are read by number.
 */
export abstract class TurnArchive {
  /** Called once, at the start of the application. */
  async prepare(): Promise<void> {}
  /**
   * Applies a change once: skips it if it, or a later one, was applied before. A delayed node therefore cannot undo
   * later changes.
   * @param seq the change's number, greater than those of the session's earlier changes
   * @returns the greatest applied number: this one or a greater one
   */
  abstract apply(key: SessionKey, seq: number, change: TurnChange): Promise<number>;
  /** Deletes the record of applied numbers. */
  async forgetDone(_key: SessionKey): Promise<void> {}
  /** The existing ones of these turns, oldest first. */
  abstract get(key: SessionKey, turns: readonly number[]): Promise<StoredTurn[]>;
  /** Numbers of the first and the last turn; `last` is 0 without turns. */
  abstract span(key: SessionKey): Promise<TurnSpan>;
  /** The marks of marked turns, by turn number. */
  abstract marks(key: SessionKey): Promise<ReadonlyMap<number, number>>;
  /** Removes outdated records of applied numbers. @param now epoch ms */
  async prune(_now: number): Promise<void> {}
  /** Removes deleted data from the store's files too, as `Database.purge`. */
  async purge(): Promise<void> {}
  abstract close(): Promise<void>;
}

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
