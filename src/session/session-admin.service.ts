import { Injectable } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { newId, type Principal } from '../kernel/index.js';
import { Database, refusalOf } from '../persistence/index.js';
import type { Statement } from '../persistence/statement/index.js';
import { SessionStore, type SessionPlace } from './session-store.js';
import { PINNED, type SessionKey, type SessionRecord } from './session.types.js';
import { assertSessionId } from './turn-place.factory.js';
import { SessionExchangeService, type SessionImport } from './exchange/session-exchange.service.js';
import type { SessionExport } from './session-export.schema.js';
import { SessionContent } from './session-content.js';
import { SessionService } from './session.service.js';
import { TurnStore } from './turns/turn-store.js';

const SESSIONS_A_PAGE = 100;
const EVERY_TURN = Number.MAX_SAFE_INTEGER;

/** Options of a new session. */
export interface SessionOptions {
  /** A generated id by default. */
  readonly id?: string;
  readonly metadata?: SessionRecord['metadata'];
}

export interface PrunedSessions {
  readonly deleted: number;
  /** Sessions not deleted because a run of them has not ended. */
  readonly held: number;
}

/** A session as last read. */
type SeenSession = SessionKey & Pick<SessionRecord, 'lastTurn'>;

/** Administration of sessions. Sessions that the caller may not see are reported as not found. */
@Injectable()
export class SessionAdminService {
  constructor(
    private readonly database: Database,
    private readonly sessions: SessionService,
    private readonly store: SessionStore,
    private readonly turns: TurnStore,
    private readonly content: SessionContent,
    private readonly exchange: SessionExchangeService,
  ) {}

  /** @throws AppError `SESSION_EXISTS`, `VALIDATION_FAILED` for an invalid id */
  async create(principal: Principal, { id = newId(), metadata }: SessionOptions): Promise<SessionRecord> {
    assertSessionId(id);
    const key = { tenant: principal.tenant, id };
    const about = { owner: principal.id, now: Date.now(), ...(metadata && { metadata }) };
    await this.store.commitNew(id, [this.store.create(key, about)]);
    return this.sessions.get(principal, id);
  }

  /** Up to `limit` sessions, newest first. @param after the last session of the previous page */
  list(principal: Principal, limit: number, after?: SessionPlace): Promise<SessionRecord[]> {
    return this.store.list(principal, limit, after);
  }

  /** Replaces the session's metadata. @throws AppError `SESSION_NOT_FOUND` */
  async setMetadata(principal: Principal, id: string, metadata: SessionRecord['metadata']): Promise<void> {
    const done = await this.attempt([this.store.setMetadata(await this.get(principal, id), metadata)]);
    if (!done) throw notFound(id);
  }

  /** Pins or unpins a turn. @throws AppError `SESSION_NOT_FOUND`, `NOT_FOUND` for an unknown turn */
  async pin(principal: Principal, id: string, turn: number, isPinned: boolean): Promise<void> {
    const key = await this.get(principal, id);
    const [found] = await this.turns.read(key, { through: EVERY_TURN, newest: 0, only: [turn] });
    if (!found) throw new AppError('NOT_FOUND', `The session "${id}" has no turn ${turn}.`);
    const marked = this.turns.mark(key, turn, isPinned ? PINNED : null);
    if (!(await this.attempt([this.store.stillThere(key, turn), ...marked]))) throw notFound(id);
  }

  /**
   * Deletes the messages of a session and of its sub-sessions, in which its agent talked with other agents. Deletes
   * none if a run holds the session itself. @throws AppError `SESSION_NOT_FOUND`, `SESSION_BUSY` while a run of it has
   * not ended
   */
  async clear(principal: Principal, id: string): Promise<void> {
    await this.clearAll(await this.get(principal, id));
  }

  private async clearAll({ tenant, id }: SessionKey): Promise<void> {
    const key = { tenant, id };
    const clear = (lastTurn: number) =>
      this.attempt([this.store.clear(key, lastTurn, Date.now()), ...this.content.withoutTurns(key, lastTurn)]);
    await this.change(key, clear);
    for (const child of await this.store.childrenOf(key)) await this.clearAll({ tenant, id: child });
  }

  /**
   * Deletes a session and its sub-sessions; none of them if a run holds one. The journal of its runs remains until
   * retention or erasure.
   * @throws AppError as `clear`
   */
  async remove(principal: Principal, id: string): Promise<void> {
    const { tenant } = await this.get(principal, id);
    for (let remaining = await this.withDescendants({ tenant, id }); remaining.length > 0;) {
      const refused = await this.removeWhole(remaining);
      if (!refused) return;
      const now = await this.withDescendants({ tenant, id });
      const same = now.find((one) => one.id === refused.id);
      if (same?.lastTurn === refused.lastTurn) throw busy(refused.id);
      remaining = now;
    }
    throw notFound(id);
  }

  /**
   * Deletes sessions without activity since a time, except those that a run holds.
   * @param before epoch ms
   * @param owner only sessions of this principal; by default all that the caller may see
   * @returns the numbers of deleted and of held sessions
   */
  async prune(principal: Principal, before: number, owner?: string): Promise<PrunedSessions> {
    const whose = owner ?? this.store.limitOf(principal) ?? undefined;
    return this.removeAllIdle(before, { tenant: principal.tenant, owner: whose });
  }

  /**
   * Deletes the sessions of all tenants without activity since a time, except those that a run holds.
   * @param before epoch ms
   * @param isStopping whether to end before all are deleted
   * @param limit maximum number of deleted sessions
   * @returns the number of deleted sessions
   */
  async expire(before: number, isStopping: () => boolean, limit: number): Promise<number> {
    return (await this.removeAllIdle(before, {}, isStopping, limit)).deleted;
  }

  private async removeAllIdle(
    before: number,
    of: Parameters<SessionStore['idle']>[2],
    isStopping = () => false,
    limit = Number.POSITIVE_INFINITY,
  ): Promise<PrunedSessions> {
    let deleted = 0;
    const held = new Set<string>();
    for (;;) {
      const idle = await this.store.idle(before, SESSIONS_A_PAGE + held.size, of);
      const next = idle.filter((key) => !held.has(nameOf(key)));
      if (next.length === 0 || deleted >= limit || isStopping()) return { deleted, held: held.size };
      for (const key of next.slice(0, limit - deleted)) {
        if (await this.removeIdle(key, before)) deleted++;
        else held.add(nameOf(key));
      }
    }
  }

  /** Exports a complete session, signed for its tenant. @throws AppError `SESSION_NOT_FOUND` */
  export(principal: Principal, id: string): Promise<SessionExport> {
    return this.exchange.export(principal, id);
  }

  /**
   * Imports an exported session as the calling principal's own.
   * @param exported the result of `export`
   * @param id a new id for the session
   * @throws AppError as `SessionExchangeService.import`
   */
  import(principal: Principal, exported: unknown, id?: string, options?: SessionImport): Promise<SessionRecord> {
    return this.exchange.import(principal, exported, id, options);
  }

  private get(principal: Principal, id: string): Promise<SessionRecord> {
    return this.sessions.get(principal, id);
  }

  /** @returns whether the session is deleted; false after new activity or while a run holds it */
  private async removeIdle(key: SessionKey, before: number): Promise<boolean> {
    const lastTurn = await this.store.lastTurn(key);
    if (lastTurn === null) return true;
    return (await this.removeWhole([{ ...key, lastTurn }], before)) === null;
  }

  /** A session and its sub-sessions; empty if the session does not exist. */
  private async withDescendants(key: SessionKey): Promise<SeenSession[]> {
    const lastTurn = await this.store.lastTurn(key);
    if (lastTurn === null) return [];
    const children = await this.store.childrenOf(key);
    const theirs = await Promise.all(children.map((id) => this.withDescendants({ ...key, id })));
    return [{ ...key, lastTurn }, ...theirs.flat()];
  }

  /**
   * Applies a change to the session with all its turns, again after a concurrent turn. @param attempt returns whether
   * it succeeded
   */
  private async change(key: SessionKey, attempt: (lastTurn: number) => Promise<boolean>): Promise<void> {
    for (let lastTurn = await this.store.lastTurn(key); lastTurn !== null;) {
      if (await attempt(lastTurn)) return;
      const now = await this.store.lastTurn(key);
      if (now === lastTurn) throw busy(key.id);
      lastTurn = now;
    }
    throw notFound(key.id);
  }

  /** @returns false if a statement affected an unexpected number of rows */
  private async attempt(statements: readonly Statement[]): Promise<boolean> {
    try {
      await this.database.commit(statements);
      return true;
    } catch (error) {
      if (refusalOf(error) !== 'rows') throw error;
      return false;
    }
  }

  /**
   * Deletes sessions with their content, or none of them.
   * @param before epoch ms; deletes nothing if one of them had activity after this time
   * @returns a session that changed or is held; `null` on success
   */
  private async removeWhole(sessions: readonly SeenSession[], before?: number): Promise<SeenSession | null> {
    const states = await Promise.all(sessions.map((key) => this.content.withoutStates(key)));
    try {
      await this.database.commit([
        ...sessions.map((key) => this.store.remove(key, key.lastTurn, before)),
        ...sessions.flatMap((key) => this.content.withoutTurns(key, key.lastTurn)),
        ...states.flatMap(({ statements }) => statements),
      ]);
    } catch (error) {
      if (refusalOf(error) !== 'rows') throw error;
      const at = Number((error as AppError).details?.['statement']);
      return sessions[at] ?? sessions[0]!;
    }
    for (const { ended } of states) await ended();
    return null;
  }
}

function nameOf({ tenant, id }: SessionKey): string {
  return JSON.stringify([tenant, id]);
}

function busy(id: string): AppError {
  const message = `A run of the session "${id}" has not ended: wait for it, or cancel it.`;
  return new AppError('SESSION_BUSY', message, { isRetryable: true });
}

function notFound(id: string): AppError {
  return new AppError('SESSION_NOT_FOUND', `There is no session "${id}".`);
}
