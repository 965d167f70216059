import { Injectable } from '@nestjs/common';
import { AppError, type Principal } from '../common/index.js';
import type { Statement } from '../persistence/index.js';
import type { Summary } from './memory/memory.types.js';
import { SummaryStore } from './memory/summary.store.js';
import { SessionStore } from './session-store.js';
import { PINNED, type SessionRecord, type StoredTurn, type Turn } from './session.types.js';
import { TurnStore } from './turns/turn-store.js';

const TURN_PAGE = 100;

/** The public face of sessions; every call is bound to a tenant, for whom others' sessions do not exist. */
@Injectable()
export class SessionService {
  constructor(
    private readonly store: SessionStore,
    private readonly turnStore: TurnStore,
    private readonly summaries: SummaryStore,
  ) {}

  /**
   * What begins the session, if it is new, in the batch that starts its run.
   * @param parentId the session whose agent talks in it with another one
   */
  beginStatement(principal: Principal, id: string, parentId?: string): Statement {
    return this.store.begin({ tenant: principal.tenant, id }, { owner: principal.id, parentId, now: Date.now() });
  }

  /** What appends the turn after the turn `lastTurn`, in the batch that ends its run. */
  turnStatements({ tenant }: Principal, id: string, lastTurn: number, turn: Turn): Statement[] {
    const now = Date.now();
    const key = { tenant, id };
    const stored = { tokens: 0, plainTokens: 0, ...turn, turn: lastTurn + 1, mark: markOf(turn), createdAt: now };
    return [this.store.grow(key, lastTurn, turn.messages.length, now), ...this.turnStore.append(key, stored)];
  }

  /** What remembers that the session holds what strangers wrote, from this turn on. */
  taintStatement({ tenant }: Principal, id: string, turn: number): Statement {
    return this.store.taint({ tenant, id }, turn);
  }

  /** What remembers that the turn `by` referred to these turns of the session. */
  referenceStatements({ tenant }: Principal, id: string, turns: readonly number[], by: number): Statement[] {
    return turns.flatMap((turn) => this.turnStore.refer({ tenant, id }, turn, by));
  }

  /** What keeps a summary of the session's beginning. */
  summaryStatements({ tenant }: Principal, id: string, summary: Summary): Statement[] {
    return [this.summaries.keep({ tenant, id }, summary, Date.now())];
  }

  /**
   * What begins the session `to` as a branch of another one, in the batch that starts its run: that session's turns up
   * to the turn `through`, byte-exact.
   * @throws AppError `SESSION_EXISTS` when `to` is there already, `SESSION_NOT_FOUND` when there are no turns to take
   */
  async branchStatements(principal: Principal, to: string, from: string | null, through: number): Promise<Statement[]> {
    const { tenant, id: owner } = principal;
    const key = { tenant, id: to };
    if (await this.store.find(tenant, to)) {
      throw new AppError('SESSION_EXISTS', `There is a session "${to}" already; give another id, or none.`);
    }
    if (from === null || through === 0) {
      return [this.store.create(key, { owner, now: Date.now() })];
    }
    const source = await this.get(principal, from);
    const messages = source.messageCount - (await this.messagesAfter(source, through));
    const { taintedTurn: tainted } = source;
    const taintedTurn = tainted !== null && tainted <= through ? tainted : null;
    return [
      this.store.stillThere({ tenant, id: from }, through),
      this.store.create(key, { owner, turns: through, messages, taintedTurn, now: Date.now() }),
      ...(await this.turnStore.copy({ tenant, id: from }, key, through)),
    ];
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
    return this.turnStore.after({ tenant: principal.tenant, id }, after, limit);
  }

  /** How many messages a session had, when it was read, after a turn. */
  private async messagesAfter({ tenant, id, lastTurn }: SessionRecord, turn: number): Promise<number> {
    let count = 0;
    for (let after = turn; after < lastTurn;) {
      const page = await this.turnStore.after({ tenant, id }, after, Math.min(TURN_PAGE, lastTurn - after));
      if (page.length === 0) break;
      for (const { messages } of page) count += messages.length;
      after = page.at(-1)!.turn;
    }
    return count;
  }
}

/** What a system message says stays in sight. */
function markOf({ messages }: Turn): number | null {
  return messages.some(({ role }) => role === 'system') ? PINNED : null;
}
