import { Injectable } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { type Principal } from '../kernel/index.js';
import type { Statement } from '../persistence/statement/index.js';
import type { StartRun } from '../run/index.js';
import type { DataFact } from '../run/facts/index.js';
import type { Summary } from './memory/memory.types.js';
import { SummaryStore } from './memory/summary.store.js';
import { SessionFiles } from './files/session-files.service.js';
import { SessionStore } from './session-store.js';
import { PINNED, type SessionKey, type SessionRecord, type StoredTurn, type Turn } from './session.types.js';
import { TurnStore } from './turns/turn-store.js';

const TURN_PAGE = 100;

/** The public API of sessions; a caller sees sessions as `Ownership` permits. */
@Injectable()
export class SessionService {
  constructor(
    private readonly store: SessionStore,
    private readonly turnStore: TurnStore,
    private readonly summaries: SummaryStore,
    private readonly files: SessionFiles,
  ) {}

  /** Creates the session if it is new, in the batch that starts its run. */
  beginStatement(principal: Principal, id: string): Statement {
    return this.store.begin({ tenant: principal.tenant, id }, { owner: principal.id, now: Date.now() });
  }

  /** The part of a run's start that makes it a run of this session, new or existing. */
  joining(principal: Principal, id: string): Required<Pick<StartRun, 'check' | 'statements'>> {
    const begin = this.beginStatement(principal, id);
    const key = { tenant: principal.tenant, id };
    const limit = this.store.limitOf(principal);
    if (limit === null) return { check: async () => undefined, statements: [begin] };
    const check = async (): Promise<void> => {
      const owner = await this.store.ownerOf(key);
      if (owner !== null && owner !== limit) throw notFound(id);
    };
    return { check, statements: [begin, this.store.ownedBy(key, limit)] };
  }

  /**
   * Creates a session in which the agent of a session talks with another agent, if it is new. It belongs to the owner of
   * that session. The batch is refused (rows) if another owner has a session with this id.
   */
  async subSessionStatements(principal: Principal, id: string, parentId: string | null): Promise<Statement[]> {
    const { tenant } = principal;
    if (parentId === null) return [this.beginStatement(principal, id)];
    const owner = (await this.store.ownerOf({ tenant, id: parentId })) ?? principal.id;
    const key = { tenant, id };
    return [this.store.begin(key, { owner, parentId, now: Date.now() }), this.store.ownedBy(key, owner, parentId)];
  }

  /** Appends the turn after the turn `lastTurn`, in the batch that ends its run. */
  turnStatements({ tenant }: Principal, id: string, lastTurn: number, turn: Turn): Statement[] {
    const now = Date.now();
    const key = { tenant, id };
    const stored = { tokens: 0, plainTokens: 0, ...turn, turn: lastTurn + 1, mark: markOf(turn), createdAt: now };
    return [this.store.grow(key, lastTurn, turn.messages.length, now), ...this.turnStore.append(key, stored)];
  }

  /** Records the facts of a turn's data; see `SessionStore.mark`. */
  factsStatement(
    { tenant }: Principal,
    id: string,
    turn: number,
    marks: { readonly added: readonly DataFact[]; readonly all: readonly DataFact[] | null },
  ): Statement {
    return this.store.mark({ tenant, id }, turn, marks.added, marks.all);
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
   * turns up to `through`, byte-exact, and has their files.
   * @throws AppError `SESSION_EXISTS` if `to` exists, `SESSION_NOT_FOUND` if the session to copy does not exist
   */
  async branchStatements(principal: Principal, to: string, from: string | null, through: number): Promise<Statement[]> {
    const { tenant, id: owner } = principal;
    const key = { tenant, id: to };
    if ((await this.store.lastTurn(key)) !== null) {
      throw new AppError('SESSION_EXISTS', `The session "${to}" exists already: use another id, or none.`);
    }
    if (from === null || through === 0) {
      return [this.store.create(key, { owner, now: Date.now() })];
    }
    const source = await this.get(principal, from);
    const messages = source.messageCount - (await this.messagesAfter(source, through));
    const upTo = (turn: number | null) => (turn !== null && turn <= through ? turn : null);
    const marks = { taintedTurn: upTo(source.taintedTurn), privateTurn: upTo(source.privateTurn) };
    const { dataFacts } = source;
    const clearedTurn = Math.min(source.clearedTurn, through);
    return [
      this.store.stillThere({ tenant, id: from }, through),
      this.store.create(key, { owner, turns: through, clearedTurn, messages, ...marks, dataFacts, now: Date.now() }),
      ...(await this.turnStore.copy({ tenant, id: from }, key, through)),
      ...(await this.files.branch(source, key, owner, () => this.runsThrough(source, through))),
    ];
  }

  /** @throws AppError `SESSION_NOT_FOUND`, also for a session that the principal may not see */
  async get(principal: Principal, id: string): Promise<SessionRecord> {
    const session = await this.store.find(principal, id);
    if (!session) throw notFound(id);
    return session;
  }

  /** Up to `limit` turns after the turn `after`, oldest first. @throws AppError `SESSION_NOT_FOUND` */
  async turns(principal: Principal, id: string, after: number, limit: number): Promise<StoredTurn[]> {
    await this.get(principal, id);
    return this.turnStore.after({ tenant: principal.tenant, id }, after, limit);
  }

  /** The runs of the turns up to a number. */
  private async runsThrough(key: SessionKey, through: number): Promise<string[]> {
    const runIds: string[] = [];
    for (let after = 0; after < through;) {
      const page = await this.turnStore.after(key, after, Math.min(TURN_PAGE, through - after));
      if (page.length === 0) break;
      runIds.push(...page.filter(({ turn }) => turn <= through).map(({ runId }) => runId));
      after = page.at(-1)!.turn;
    }
    return runIds;
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

function notFound(id: string): AppError {
  return new AppError('SESSION_NOT_FOUND', `There is no session "${id}".`);
}

/** Pins a turn with a system message, so that it stays visible. */
function markOf({ messages }: Turn): number | null {
  return messages.some(({ role }) => role === 'system') ? PINNED : null;
}
