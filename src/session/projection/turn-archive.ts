import type { SessionKey, StoredTurn } from '../session.types.js';

/** What is done to a session's turns. */
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
 * The port to a store of turns beside the journal's database. Turns have numbers without gaps, but for those that were
 * removed, so that they are read by their numbers.
 */
export abstract class TurnArchive {
  /**
   * Does a change, once: one that was done, or has a later one after it that was done, is left. So a node that was
   * held up over a change cannot do it after what others have done since.
   * @param seq the change's number, greater than those of the session's changes before
   * @returns the greatest number that was done: this, or a greater one
   */
  abstract apply(key: SessionKey, seq: number, change: TurnChange): Promise<number>;
  /** Forgets which numbers were done. */
  async forgetDone(_key: SessionKey): Promise<void> {}
  /** Those of these turns that are there, oldest first. */
  abstract get(key: SessionKey, turns: readonly number[]): Promise<StoredTurn[]>;
  /** The numbers of the first turn that is there, and of the last; 0 without any. */
  abstract span(key: SessionKey): Promise<TurnSpan>;
  /** The marked turns' numbers and marks. */
  abstract marks(key: SessionKey): Promise<ReadonlyMap<number, number>>;
  /** Removes what is kept of sessions whose time is over, where the store does not do that itself. @param now epoch ms */
  async prune(_now: number): Promise<void> {}
  /** Takes what was removed out of its files too, as `Database.purge`. */
  async purge(): Promise<void> {}
  abstract close(): Promise<void>;
}
