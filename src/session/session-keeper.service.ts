import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AppError, newId, type Principal } from '../common/index.js';
import { countMessages, TokenCounterRegistry } from '../llm/index.js';
import { Database, refusalOf, type Statement } from '../persistence/index.js';
import { toPlainTurn } from './memory/plain-turn.mapper.js';
import { SummaryStore } from './memory/summary.store.js';
import { sessionExportSchema, toExport, toMessages, type SessionExport } from './session-export.schema.js';
import { SessionStore, type SessionPlace } from './session-store.js';
import { PINNED, type SessionKey, type SessionRecord, type StoredTurn } from './session.types.js';
import { SESSION_ID_PATTERN, SessionService } from './session.service.js';
import { TurnStore } from './turns/turn-store.js';

const TURN_PAGE = 100;
const SESSIONS_A_PAGE = 100;
const EVERY_TURN = Number.MAX_SAFE_INTEGER;

/** What may be said of a new session. */
export interface SessionOptions {
  /** A new one when left out. */
  readonly id?: string;
  readonly metadata?: SessionRecord['metadata'];
}

export interface PrunedSessions {
  readonly deleted: number;
  /** Those that stay because runs of them have not ended. */
  readonly held: number;
}

/** What people do with sessions, besides talking in them. Others' sessions do not exist. */
@Injectable()
export class SessionKeeper {
  constructor(
    private readonly database: Database,
    private readonly sessions: SessionService,
    private readonly store: SessionStore,
    private readonly turns: TurnStore,
    private readonly summaries: SummaryStore,
    private readonly counters: TokenCounterRegistry,
  ) {}

  /** @throws AppError `SESSION_EXISTS`, `VALIDATION_FAILED` for an id that none may have */
  async create(principal: Principal, { id = newId(), metadata }: SessionOptions): Promise<SessionRecord> {
    assertId(id);
    const key = { tenant: principal.tenant, id };
    await this.commitNew(id, [
      this.store.create(key, { owner: principal.id, now: Date.now(), ...(metadata && { metadata }) }),
    ]);
    return this.sessions.get(principal, id);
  }

  /** Up to `limit` sessions, those begun last first. @param after the last one of the page before */
  list({ tenant }: Principal, limit: number, after?: SessionPlace): Promise<SessionRecord[]> {
    return this.store.list(tenant, limit, after);
  }

  /** Sets what is kept with a session. @throws AppError `SESSION_NOT_FOUND` */
  async setMetadata(principal: Principal, id: string, metadata: SessionRecord['metadata']): Promise<SessionRecord> {
    await this.get(principal, id);
    await this.commit(principal, id, [this.store.setMetadata({ tenant: principal.tenant, id }, metadata)]);
    return this.get(principal, id);
  }

  /** Lets a turn stay in sight, or not any more. @throws AppError `SESSION_NOT_FOUND`, `NOT_FOUND` for a turn that is not there */
  async pin(principal: Principal, id: string, turn: number, isPinned: boolean): Promise<void> {
    await this.get(principal, id);
    const key = { tenant: principal.tenant, id };
    const [found] = await this.turns.read(key, { through: EVERY_TURN, newest: 0, only: [turn] });
    if (!found) throw new AppError('NOT_FOUND', `The session "${id}" has no turn ${turn}.`);
    await this.database.commit(this.turns.mark(key, turn, isPinned ? PINNED : null));
  }

  /** Forgets the messages of a session. @throws AppError `SESSION_NOT_FOUND`, `SESSION_BUSY` while a run holds it */
  async clear(principal: Principal, id: string): Promise<void> {
    const key = { tenant: principal.tenant, id };
    const { lastTurn } = await this.get(principal, id);
    await this.commit(principal, id, [this.store.clear(key, Date.now()), ...this.withoutTurns(key, lastTurn)]);
  }

  /** Deletes a session. What its runs have journaled stays until it is too old, or erased. @throws AppError as `clear` */
  async remove(principal: Principal, id: string): Promise<void> {
    const key = { tenant: principal.tenant, id };
    const { lastTurn } = await this.get(principal, id);
    await this.commit(principal, id, [this.store.remove(key), ...this.withoutTurns(key, lastTurn)]);
  }

  /**
   * Deletes the tenant's sessions in which nothing has happened since a time, but those that a run holds.
   * @param before epoch ms
   * @param owner whose they are; anybody's when left out
   * @returns how many, and how many runs hold
   */
  async prune(principal: Principal, before: number, owner?: string): Promise<PrunedSessions> {
    let deleted = 0;
    const held = new Set<string>();
    for (;;) {
      const idle = await this.store.idle(principal.tenant, before, SESSIONS_A_PAGE + held.size, owner);
      const next = idle.filter((id) => !held.has(id));
      if (next.length === 0) return { deleted, held: held.size };
      for (const id of next) {
        if (await this.removeIfFree(principal, id)) deleted++;
        else held.add(id);
      }
    }
  }

  /** A session whole. @throws AppError `SESSION_NOT_FOUND` */
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
   * Takes a session in that was exported, here or elsewhere, as the asking principal's own.
   * @param exported as `export` gave it
   * @param id another one than it had
   * @throws AppError `VALIDATION_FAILED` saying what is wrong where, `SESSION_EXISTS`
   */
  async import(principal: Principal, exported: unknown, id?: string): Promise<SessionRecord> {
    const { session, turns } = parse(exported);
    const to = id ?? session.id;
    assertId(to);
    const key = { tenant: principal.tenant, id: to };
    const stored = await this.toStored(turns);
    const messages = stored.reduce((sum, turn) => sum + turn.messages.length, 0);
    const about = { owner: principal.id, metadata: session.metadata, now: Date.now() };
    await this.commitNew(to, [
      this.store.create(key, { ...about, turns: stored.length, messages }),
      ...stored.flatMap((turn) => this.turns.append(key, turn)),
    ]);
    return this.get(principal, to);
  }

  private async toStored(turns: SessionExport['turns']): Promise<StoredTurn[]> {
    const counter = await this.counters.of('');
    return turns.map((turn, at) => {
      const messages = toMessages(turn);
      const isMarked = turn.pinned || messages.some(({ role }) => role === 'system');
      return {
        turn: at + 1,
        runId: turn.run_id,
        status: turn.status,
        messages,
        tokens: countMessages(counter, messages),
        plainTokens: countMessages(counter, toPlainTurn(messages)),
        mark: isMarked ? PINNED : null,
        createdAt: turn.created_at,
      };
    });
  }

  private get(principal: Principal, id: string): Promise<SessionRecord> {
    return this.sessions.get(principal, id);
  }

  private async removeIfFree(principal: Principal, id: string): Promise<boolean> {
    try {
      await this.remove(principal, id);
      return true;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return error.code === 'SESSION_NOT_FOUND';
    }
  }

  private withoutTurns(key: SessionKey, through: number): Statement[] {
    return [...this.turns.remove(key, through), this.summaries.remove(key)];
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

  private async commit(principal: Principal, id: string, statements: readonly Statement[]): Promise<void> {
    try {
      await this.database.commit(statements);
    } catch (error) {
      if (refusalOf(error) !== 'rows') throw error;
      await this.get(principal, id);
      throw new AppError('SESSION_BUSY', `A run of the session "${id}" has not ended: wait for it, or cancel it.`, {
        isRetryable: true,
      });
    }
  }
}

function parse(exported: unknown): SessionExport {
  const parsed = sessionExportSchema.safeParse(exported);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), message }));
  throw new AppError('VALIDATION_FAILED', `The session cannot be imported:\n${z.prettifyError(parsed.error)}`, {
    details: { errors },
  });
}

function assertId(id: string): void {
  if (SESSION_ID_PATTERN.test(id)) return;
  const message = 'must be 1 to 128 of A-Z a-z 0-9 _ -';
  throw new AppError('VALIDATION_FAILED', `The session id ${message}.`, {
    details: { errors: [{ field: 'id', message }] },
  });
}
