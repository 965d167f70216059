import { Injectable } from '@nestjs/common';
import { AppError, type Principal } from '../common/index.js';
import type { Statement } from '../persistence/index.js';
import { SessionStore } from './session-store.js';
import type { SessionRecord, SessionWindow, StoredTurn, Turn } from './session.types.js';

/** What a session's id may be: 1 to 128 of `A-Z a-z 0-9 _ -`. */
export const SESSION_ID_PATTERN = /^[A-Za-z0-9_-]{1,128}$/;

const NO_LIMIT = Number.MAX_SAFE_INTEGER;
const TURN_PAGE = 100;

/** The public face of sessions; every call is bound to a tenant, for whom others' sessions do not exist. */
@Injectable()
export class SessionService {
  constructor(private readonly store: SessionStore) {}

  /** What begins the session, if it is new, in the batch that starts its run. */
  beginStatement(principal: Principal, id: string): Statement {
    return this.store.begin(principal.tenant, id, principal.id, Date.now());
  }

  /** What appends the turn, in the batch that ends its run. */
  turnStatements(principal: Principal, id: string, lastTurn: number, turn: Turn): Statement[] {
    return this.store.append(principal.tenant, id, lastTurn, turn, Date.now());
  }

  /**
   * What begins the session `to` as a branch of another one, in the batch that starts its run: that session's turns up
   * to the turn `through`, byte-exact.
   * @throws AppError `SESSION_EXISTS` when `to` is there already, `SESSION_NOT_FOUND` when there are no turns to take
   */
  async branchStatements(principal: Principal, to: string, from: string | null, through: number): Promise<Statement[]> {
    const { tenant, id: owner } = principal;
    if (await this.store.find(tenant, to)) {
      throw new AppError('SESSION_EXISTS', `There is a session "${to}" already; give another id, or none.`);
    }
    if (from === null || through === 0) return this.store.branch(tenant, to, owner, null, Date.now());
    const source = await this.get(principal, from);
    const messageCount = source.messageCount - (await this.messagesAfter(source, through));
    return this.store.branch(tenant, to, owner, { id: from, through, messageCount }, Date.now());
  }

  /**
   * The newest `turns` turns of a session.
   * @param through the last turn that may be seen; without it the session's last one
   */
  async window(principal: Principal, id: string, turns: number, through = NO_LIMIT): Promise<SessionWindow> {
    const stored = await this.store.lastTurns(principal.tenant, id, through, Math.max(turns, 1));
    const seen = turns === 0 ? [] : stored;
    return { lastTurn: stored.at(-1)?.turn ?? 0, messages: seen.flatMap((turn) => turn.messages) };
  }

  /** @throws AppError `SESSION_NOT_FOUND`, also for another tenant's session */
  async get(principal: Principal, id: string): Promise<SessionRecord> {
    const session = await this.store.find(principal.tenant, id);
    if (!session) throw new AppError('SESSION_NOT_FOUND', `There is no session "${id}".`);
    return session;
  }

  /** Up to `limit` turns after the turn `after`, oldest first. @throws AppError `SESSION_NOT_FOUND` */
  async turns(principal: Principal, id: string, after: number, limit: number): Promise<StoredTurn[]> {
    await this.get(principal, id);
    return this.store.turnsAfter(principal.tenant, id, after, limit);
  }

  /** How many messages a session had, when it was read, after a turn. */
  private async messagesAfter({ tenant, id, lastTurn }: SessionRecord, turn: number): Promise<number> {
    let count = 0;
    for (let after = turn; after < lastTurn;) {
      const page = await this.store.turnsAfter(tenant, id, after, Math.min(TURN_PAGE, lastTurn - after));
      if (page.length === 0) break;
      for (const { messages } of page) count += messages.length;
      after = page.at(-1)!.turn;
    }
    return count;
  }
}
