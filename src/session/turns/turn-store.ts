import type { Statement } from '../../persistence/statement/index.js';
import type { SessionKey, StoredTurn } from '../session.types.js';

/** Selects turns of a session: the union of all parts, oldest first. */
export interface TurnQuery {
  /** The last visible turn. */
  readonly through: number;
  /** Number of newest turns. */
  readonly newest: number;
  /** Of the newest turns, only those for which all newer ones have fewer messages in total. */
  readonly maxMessages?: number;
  /** The same for tokens. */
  readonly maxTokens?: number;
  /** Whether tokens are counted without tool calls. */
  readonly isPlain?: boolean;
  /** Number of first existing turns. */
  readonly first?: number;
  /** Number of marked turns, the highest marks first. */
  readonly marked?: number;
  /** Turns by number. */
  readonly only?: readonly number[];
}

/** Whether a limit other than their number restricts the newest turns. */
export function isBounded({ maxMessages, maxTokens }: TurnQuery): boolean {
  return maxMessages !== undefined || maxTokens !== undefined;
}

/**
 * The port to the storage of turns. Changes are statements in the batch of the journal; a separate store journals them
 * and applies them later. They must follow the statement that creates, changes or deletes the session's row. That
 * statement rejects the batch if it cannot, and gives a session's changes one order.
 */
export abstract class TurnStore {
  /** Appends a turn; the batch is rejected if the turn, or another turn of its run, exists. */
  abstract append(key: SessionKey, turn: StoredTurn): Statement[];
  /** Copies another session's turns up to `through`, byte-exact, as the first turns of a new session. */
  abstract copy(from: SessionKey, to: SessionKey, through: number): Promise<Statement[]>;
  /** Removes the turns up to `through`. */
  abstract remove(key: SessionKey, through: number): Statement[];
  /** Removes these turns; the others keep their numbers. */
  abstract drop(key: SessionKey, turns: readonly number[]): Statement[];
  /** Sets a turn's mark. */
  abstract mark(key: SessionKey, turn: number, mark: number | null): Statement[];
  /** Raises a turn's mark to `by`, if it is lower. */
  abstract refer(key: SessionKey, turn: number, by: number): Statement[];

  /** The sessions with turns of these runs; `null` if only a search of every session can find them. */
  abstract sessionsOf(tenant: string, runIds: readonly string[]): Promise<string[] | null>;
  abstract read(key: SessionKey, query: TurnQuery): Promise<StoredTurn[]>;
  /** Up to `limit` turns after the turn `after`, oldest first. */
  abstract after(key: SessionKey, after: number, limit: number): Promise<StoredTurn[]>;

  /** Removes deleted data from files too, if turns are stored outside the journal's database. */
  async purge(): Promise<void> {}
}
