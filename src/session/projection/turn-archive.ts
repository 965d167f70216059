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
  /** Removes expired sessions, if the store does not expire them itself. @param now epoch ms */
  async prune(_now: number): Promise<void> {}
  /** Removes deleted data from the store's files too, as `Database.purge`. */
  async purge(): Promise<void> {}
  abstract close(): Promise<void>;
}
