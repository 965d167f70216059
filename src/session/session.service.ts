import { Injectable } from '@nestjs/common';
import { AppError, type Principal } from '../common/index.js';
import type { Statement } from '../persistence/index.js';
import type { Summary } from './memory/memory.types.js';
import { SummaryStore } from './memory/summary.store.js';
import { SessionStore } from './session-store.js';
import { PINNED, type SessionRecord, type StoredTurn, type Turn } from './session.types.js';
import { TurnStore } from './turns/turn-store.js';

const TURN_PAGE = 100;

/** The public API of sessions; every call is bound to a tenant and cannot see other tenants' sessions. */
@Injectable()
export class SessionService {
  constructor(
    private readonly store: SessionStore,
    private readonly turnStore: TurnStore,
    private readonly summaries: SummaryStore,
  ) {}

  /**
   * Creates the session if it is new, in the batch that starts its run.
   * @param parentId the session whose agent talks with another agent in this one
   */
  beginStatement(principal: Principal, id: string, parentId?: string): Statement {
    return this.store.begin({ tenant: principal.tenant, id }, { owner: principal.id, parentId, now: Date.now() });
  }

  /** Appends the turn after the turn `lastTurn`, in the batch that ends its run. */
  turnStatements({ tenant }: Principal, id: string, lastTurn: number, turn: Turn): Statement[] {
    const now = Date.now();
    const key = { tenant, id };
    const stored = { tokens: 0, plainTokens: 0, ...turn, turn: lastTurn + 1, mark: markOf(turn), createdAt: now };
    return [this.store.grow(key, lastTurn, turn.messages.length, now), ...this.turnStore.append(key, stored)];
  }

  /** Records that the session contains untrusted content from this turn on. */
  taintStatement({ tenant }: Principal, id: string, turn: number): Statement {
    return this.store.taint({ tenant, id }, turn);
  }

  /** Records that the turn `by` referred to these turns of the session. */
  referenceStatements({ tenant }: Principal, id: string, turns: readonly number[], by: number): Statement[] {
    return turns.flatMap((turn) => this.turnStore.refer({ tenant, id }, turn, by));
  }

  /** Stores a summary of the session's first turns. */
  summaryStatements({ tenant }: Principal, id: string, summary: Summary): Statement[] {
    return [this.summaries.keep({ tenant, id }, summary, Date.now())];
  }

  /**
   * Creates the session `to` as a branch of another one, in the batch that starts its run. It copies that session's
   * turns up to `through`, byte-exact.
   * @throws AppError `SESSION_EXISTS` if `to` exists, `SESSION_NOT_FOUND` if the session to copy does not exist
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

  /** Number of messages after a turn, up to the last turn when the session was read. */
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

/** Pins a turn with a system message, so that it stays visible. */
function markOf({ messages }: Turn): number | null {
  return messages.some(({ role }) => role === 'system') ? PINNED : null;
}
