import { Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { AppError, issueMistakes, newId, type Principal } from '../common/index.js';
import { TokenCounterRegistry } from '../llm/index.js';
import { Database, refusalOf, type Statement } from '../persistence/index.js';
import { countTurn } from './memory/turn-tokens.mapper.js';
import { sessionExportSchema, toExport, toMessages, type SessionExport } from './session-export.schema.js';
import { SessionStore, type SessionPlace } from './session-store.js';
import { PINNED, type SessionKey, type SessionRecord, type StoredTurn } from './session.types.js';
import { assertSessionId } from './session-id.policy.js';
import { SessionContent } from './session-content.service.js';
import { SessionService } from './session.service.js';
import { TurnStore } from './turns/turn-store.js';

const TURN_PAGE = 100;
/** Turns counted before yielding to the event loop. */
const TURNS_AT_ONCE = 20;
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

/** Administration of sessions. Sessions of other tenants are invisible. */
@Injectable()
export class SessionAdminService {
  constructor(
    private readonly database: Database,
    private readonly sessions: SessionService,
    private readonly store: SessionStore,
    private readonly turns: TurnStore,
    private readonly content: SessionContent,
    private readonly counters: TokenCounterRegistry,
  ) {}

  /** @throws AppError `SESSION_EXISTS`, `VALIDATION_FAILED` for an invalid id */
  async create(principal: Principal, { id = newId(), metadata }: SessionOptions): Promise<SessionRecord> {
    assertSessionId(id);
    const key = { tenant: principal.tenant, id };
    await this.commitNew(id, [
      this.store.create(key, { owner: principal.id, now: Date.now(), ...(metadata && { metadata }) }),
    ]);
    return this.sessions.get(principal, id);
  }

  /** Up to `limit` sessions, newest first. @param after the last session of the previous page */
  list({ tenant }: Principal, limit: number, after?: SessionPlace): Promise<SessionRecord[]> {
    return this.store.list(tenant, limit, after);
  }

  /** Replaces the session's metadata. @throws AppError `SESSION_NOT_FOUND` */
  async setMetadata({ tenant }: Principal, id: string, metadata: SessionRecord['metadata']): Promise<void> {
    const done = await this.attempt([this.store.setMetadata({ tenant, id }, metadata)]);
    if (!done) throw notFound(id);
  }

  /** Pins or unpins a turn. @throws AppError `SESSION_NOT_FOUND`, `NOT_FOUND` for an unknown turn */
  async pin(principal: Principal, id: string, turn: number, isPinned: boolean): Promise<void> {
    await this.get(principal, id);
    const key = { tenant: principal.tenant, id };
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
    const key = { tenant: principal.tenant, id };
    const clear = (lastTurn: number) =>
      this.attempt([this.store.clear(key, lastTurn, Date.now()), ...this.content.withoutTurns(key, lastTurn)]);
    await this.change(key, clear);
    for (const child of await this.store.childrenOf(key)) await this.clear(principal, child);
  }

  /**
   * Deletes a session and its sub-sessions; none of them if a run holds one. The journal of its runs remains until
   * retention or erasure.
   * @throws AppError as `clear`
   */
  async remove({ tenant }: Principal, id: string): Promise<void> {
    for (let family = await this.familyOf({ tenant, id }); family.length > 0;) {
      const refused = await this.removeWhole(family);
      if (!refused) return;
      const now = await this.familyOf({ tenant, id });
      const same = now.find((one) => one.id === refused.id);
      if (same?.lastTurn === refused.lastTurn) throw busy(refused.id);
      family = now;
    }
    throw notFound(id);
  }

  /**
   * Deletes the tenant's sessions without activity since a time, except those that a run holds.
   * @param before epoch ms
   * @param owner only sessions of this principal; by default of all
   * @returns the numbers of deleted and of held sessions
   */
  async prune(principal: Principal, before: number, owner?: string): Promise<PrunedSessions> {
    let deleted = 0;
    const held = new Set<string>();
    for (;;) {
      const idle = await this.store.idle(principal.tenant, before, SESSIONS_A_PAGE + held.size, owner);
      const next = idle.filter((id) => !held.has(id));
      if (next.length === 0) return { deleted, held: held.size };
      for (const id of next) {
        if (await this.removeIdle({ tenant: principal.tenant, id }, before)) deleted++;
        else held.add(id);
      }
    }
  }

  /** Exports a complete session. @throws AppError `SESSION_NOT_FOUND` */
  async export(principal: Principal, id: string): Promise<SessionExport> {
    const session = await this.get(principal, id);
    const turns: StoredTurn[] = [];
    for (let after = 0; ;) {
      const page = await this.sessions.turns(principal, id, after, TURN_PAGE);
      turns.push(...page);
      if (page.length < TURN_PAGE) return toExport(session, turns, PINNED);
      after = page.at(-1)!.turn;
    }
  }

  /**
   * Imports an exported session as the calling principal's own.
   * @param exported the result of `export`
   * @param id a new id for the session
   * @param at path of the session in the request, such as `session.`
   * @throws AppError `VALIDATION_FAILED` with the mistakes and their places, `SESSION_EXISTS`
   */
  async import(principal: Principal, exported: unknown, id?: string, at = ''): Promise<SessionRecord> {
    const { session, turns } = parse(exported, at);
    const to = id ?? session.id;
    assertSessionId(to, id === undefined ? `${at}session.id` : 'id');
    const key = { tenant: principal.tenant, id: to };
    const stored = await this.toStored(turns);
    const messages = stored.reduce((sum, turn) => sum + turn.messages.length, 0);
    const about = { owner: principal.id, metadata: session.metadata, now: Date.now() };
    await this.commitNew(to, [
      this.store.create(key, { ...about, turns: stored.length, messages, taintedTurn: session.is_tainted ? 1 : null }),
      ...stored.flatMap((turn) => this.turns.append(key, turn)),
    ]);
    return this.get(principal, to);
  }

  /** Yields regularly, so that a long session does not block the event loop. */
  private async toStored(turns: SessionExport['turns']): Promise<StoredTurn[]> {
    const counter = await this.counters.of('');
    const stored: StoredTurn[] = [];
    for (const turn of turns) {
      const messages = toMessages(turn);
      const isMarked = turn.pinned || messages.some(({ role }) => role === 'system');
      stored.push({
        turn: stored.length + 1,
        runId: turn.run_id,
        status: turn.status,
        messages,
        ...countTurn(counter, messages),
        mark: isMarked ? PINNED : null,
        createdAt: turn.created_at,
      });
      if (stored.length % TURNS_AT_ONCE === 0) await setImmediate();
    }
    return stored;
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
  private async familyOf(key: SessionKey): Promise<SeenSession[]> {
    const lastTurn = await this.store.lastTurn(key);
    if (lastTurn === null) return [];
    const children = await this.store.childrenOf(key);
    const theirs = await Promise.all(children.map((id) => this.familyOf({ ...key, id })));
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
   * @param before only if they had no activity since, epoch ms
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

  private async commitNew(id: string, statements: readonly Statement[]): Promise<void> {
    try {
      await this.database.commit(statements);
    } catch (error) {
      if (refusalOf(error) !== 'unique') throw error;
      throw new AppError(
        'SESSION_EXISTS',
        `There is a session "${id}" already, or one of its runs twice; give another id.`,
      );
    }
  }
}

function parse(exported: unknown, at: string): SessionExport {
  const parsed = sessionExportSchema.safeParse(exported);
  if (parsed.success) return parsed.data;
  const errors = issueMistakes(parsed.error.issues, exported, at);
  throw new AppError('VALIDATION_FAILED', `The session cannot be imported:\n${z.prettifyError(parsed.error)}`, {
    details: { errors },
  });
}

function busy(id: string): AppError {
  const message = `A run of the session "${id}" has not ended: wait for it, or cancel it.`;
  return new AppError('SESSION_BUSY', message, { isRetryable: true });
}

function notFound(id: string): AppError {
  return new AppError('SESSION_NOT_FOUND', `There is no session "${id}".`);
}
