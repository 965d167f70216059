import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import { Database, refusalOf } from '../../persistence/index.js';
import type { Statement } from '../../persistence/statement/index.js';
import { SessionStore } from '../session-store.js';
import type { SessionKey, StoredTurn } from '../session.types.js';
import { TurnStore, type TurnQuery } from '../turns/turn-store.js';

/** Stores conversations without runs as sessions. */
@Injectable()
export class ConversationStore {
  constructor(
    private readonly database: Database,
    private readonly sessions: SessionStore,
    private readonly turns: TurnStore,
  ) {}

  /** @throws AppError `SESSION_NOT_FOUND`, also for a session that the principal may not see */
  async read(
    principal: Principal,
    id: string,
    query: Omit<TurnQuery, 'through'>,
  ): Promise<{ lastTurn: number; turns: StoredTurn[] }> {
    const key = await this.sessions.find(principal, id);
    if (!key) throw notFound({ id });
    const { lastTurn } = key;
    return { lastTurn, turns: await this.turns.read(key, { ...query, through: lastTurn }) };
  }

  /** Creates the session with turns; the first one is its turn 1. @throws AppError `SESSION_EXISTS` */
  async begin(key: SessionKey, owner: string, turns: readonly StoredTurn[]): Promise<void> {
    const messages = turns.reduce((sum, turn) => sum + turn.messages.length, 0);
    const created = this.sessions.create(key, { owner, turns: turns.length, messages, now: Date.now() });
    try {
      await this.database.commit([created, ...this.append(key, turns)]);
    } catch (error) {
      if (refusalOf(error) !== 'unique') throw error;
      throw new AppError(
        'SESSION_EXISTS',
        `There is a session "${key.id}" already; restore it first, or give another id.`,
      );
    }
  }

  /** Appends turns after the turn `lastTurn`. @throws AppError `SESSION_NOT_FOUND`, `SESSION_BUSY` */
  async extend(key: SessionKey, lastTurn: number, turns: readonly StoredTurn[]): Promise<void> {
    const now = Date.now();
    const grown = turns.map(({ messages }, at) => this.sessions.grow(key, lastTurn + at, messages.length, now));
    try {
      await this.database.commit([this.sessions.stillFree(key), ...grown, ...this.append(key, turns)]);
    } catch (error) {
      if (!refusalOf(error)) throw error;
      if ((await this.sessions.lastTurn(key)) === null) throw notFound(key);
      const message = `The session "${key.id}" has new turns, or a run of it has not ended: restore it afterwards, and add the messages again.`;
      throw new AppError('SESSION_BUSY', message, { isRetryable: true });
    }
  }

  private append(key: SessionKey, turns: readonly StoredTurn[]): Statement[] {
    return turns.flatMap((turn) => this.turns.append(key, turn));
  }
}

function notFound({ id }: Pick<SessionKey, 'id'>): AppError {
  return new AppError('SESSION_NOT_FOUND', `There is no session "${id}".`);
}
