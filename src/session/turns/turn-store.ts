import type { Statement } from '../../persistence/index.js';
import type { SessionKey, StoredTurn } from '../session.types.js';

/** Which turns of a session are read; all that any part names, each once, oldest first. */
export interface TurnQuery {
  /** The last turn that may be seen. */
  readonly through: number;
  /** So many of the newest turns. */
  readonly newest: number;
  /** Of them only those with which the messages of all newer ones stay below this. */
  readonly maxMessages?: number;
  /** The same for tokens. */
  readonly maxTokens?: number;
  /** Whether tokens are counted without tool calls. */
  readonly isPlain?: boolean;
  /** So many of the first turns that are there. */
  readonly first?: number;
  /** So many of the marked turns, the highest marks first. */
  readonly marked?: number;
  /** These turns, by their numbers. */
  readonly only?: readonly number[];
}

/** Whether more bounds the newest turns than their count. */
export function isBounded({ maxMessages, maxTokens }: TurnQuery): boolean {
  return maxMessages !== undefined || maxTokens !== undefined;
}

/**
 * The port to where turns are kept. Changes are statements, which go into the batch of the journal that they belong to:
 * a store elsewhere lets them say what is to be done there. They come after the statement that holds their session's row
 * (begins it, changes it or deletes it, and refuses the batch if it cannot), so that a session's changes have one order.
 */
export abstract class TurnStore {
  /** Adds a turn; the batch is refused when the turn, or another one of its run, is there already. */
  abstract append(key: SessionKey, turn: StoredTurn): Statement[];
  /** Takes another session's turns up to `through` over, byte-exact, as the first ones of a new session. */
  abstract copy(from: SessionKey, to: SessionKey, through: number): Promise<Statement[]>;
  /** Removes the turns up to `through`. */
  abstract remove(key: SessionKey, through: number): Statement[];
  /** Removes these turns; the others keep their numbers. */
  abstract drop(key: SessionKey, turns: readonly number[]): Statement[];
  /** Sets a turn's mark. */
  abstract mark(key: SessionKey, turn: number, mark: number | null): Statement[];
  /** Raises a turn's mark to `by`, if it is lower. */
  abstract refer(key: SessionKey, turn: number, by: number): Statement[];

  /** The sessions that have turns of these runs; `null` where only a look into every session can tell. */
  abstract sessionsOf(tenant: string, runIds: readonly string[]): Promise<string[] | null>;
  abstract read(key: SessionKey, query: TurnQuery): Promise<StoredTurn[]>;
  /** Up to `limit` turns after the turn `after`, oldest first. */
  abstract after(key: SessionKey, after: number, limit: number): Promise<StoredTurn[]>;

  /** Has nothing left of what was removed, also in files, where turns are kept beside the journal's database. */
  async purge(): Promise<void> {}
}
