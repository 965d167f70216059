import { DAY_MS } from '../kernel/index.js';
import { UserErasureService, type Erasure } from '../agent/index.js';
import type { Principal } from '../kernel/index.js';
import type { AccessLogService } from '../security/access-log/index.js';
import {
  SessionAdminService,
  SessionService,
  type PrunedSessions,
  type SessionExport,
  type SessionOptions,
  type SessionPlace,
  type SessionRecord,
  type StoredTurn,
} from '../session/index.js';

/** The services behind `AgentSessions`. */
export interface SessionServices {
  readonly sessions: SessionService;
  readonly admin: SessionAdminService;
  readonly users: UserErasureService;
  readonly access: AccessLogService;
}

/**
 * Sessions of an agent from `createAgent`, in its principal's tenant. The methods equal the REST routes of the same
 * names, also in the access log.
 */
export class AgentSessions {
  constructor(
    private readonly principal: Principal,
    private readonly services: SessionServices,
  ) {}

  /** Creates a session without messages. @throws AppError `SESSION_EXISTS`, `VALIDATION_FAILED` */
  create(options: SessionOptions = {}): Promise<SessionRecord> {
    return this.services.admin.create(this.principal, options);
  }

  /**
   * A page of sessions, newest first. @param page `limit` is 50 by default; `after` is the last session of the previous
   * page
   */
  async list({ limit = 50, after }: { limit?: number; after?: SessionPlace } = {}): Promise<SessionRecord[]> {
    const found = await this.services.admin.list(this.principal, limit, after);
    this.record('read', 'sessions', '');
    return found;
  }

  /** @throws AppError `SESSION_NOT_FOUND` */
  async get(id: string): Promise<SessionRecord> {
    const found = await this.services.sessions.get(this.principal, id);
    this.record('read', 'session', id);
    return found;
  }

  /**
   * A page of messages in whole turns, oldest first. @param page `limit` in turns, 50 by default; `after` is a turn's
   * number @throws AppError `SESSION_NOT_FOUND`
   */
  async turns(id: string, { limit = 50, after = 0 }: { limit?: number; after?: number } = {}): Promise<StoredTurn[]> {
    const found = await this.services.sessions.turns(this.principal, id, after, limit);
    this.record('read', 'session.messages', id);
    return found;
  }

  /** Replaces a session's metadata; `get` returns it. @throws AppError `SESSION_NOT_FOUND` */
  setMetadata(id: string, metadata: SessionRecord['metadata']): Promise<void> {
    return this.services.admin.setMetadata(this.principal, id, metadata);
  }

  /**
   * Pins or unpins a turn; with the memory policy `lru`, runs receive pinned turns. @throws AppError
   * `SESSION_NOT_FOUND`, `NOT_FOUND`
   */
  pin(id: string, turn: number, isPinned = true): Promise<void> {
    return this.services.admin.pin(this.principal, id, turn, isPinned);
  }

  /** Deletes all messages. @throws AppError `SESSION_NOT_FOUND`, `SESSION_BUSY` */
  async clear(id: string): Promise<void> {
    await this.services.admin.clear(this.principal, id);
    this.record('erase', 'session.messages', id);
  }

  /** @throws AppError `SESSION_NOT_FOUND`, `SESSION_BUSY` */
  async delete(id: string): Promise<void> {
    await this.services.admin.remove(this.principal, id);
    this.record('erase', 'session', id);
  }

  /**
   * Deletes sessions without activity for `olderThanDays` days. @returns how many were deleted, and how many stay
   * because of unfinished runs
   */
  prune(olderThanDays: number): Promise<PrunedSessions> {
    return this.services.admin.prune(this.principal, Date.now() - olderThanDays * DAY_MS);
  }

  /** Exports a whole session, signed for its tenant. @throws AppError `SESSION_NOT_FOUND` */
  async export(id: string): Promise<SessionExport> {
    const found = await this.services.admin.export(this.principal, id);
    this.record('export', 'session', id);
    return found;
  }

  /**
   * Imports an exported session; the agent's principal becomes its owner. Without a valid signature the session is
   * tainted, unless `isTrusted`, which needs the scope `sessions:trust`. @throws AppError `VALIDATION_FAILED`,
   * `SESSION_EXISTS`, `INPUT_BLOCKED`, `FORBIDDEN`
   */
  async import(exported: SessionExport, id?: string, isTrusted = false): Promise<SessionRecord> {
    const found = await this.services.admin.import(this.principal, exported, id, { isTrusted });
    this.record('import', 'session', found.id);
    return found;
  }

  /** Erases a user of the tenant: sessions, runs, facts. @throws AppError `NOT_FOUND`, `SESSION_BUSY` */
  async eraseUser(userId: string): Promise<Erasure> {
    const found = await this.services.users.erase(this.principal, userId);
    this.record('erase', 'user', userId);
    return found;
  }

  private record(...[action, kind, id]: Tail<Parameters<AccessLogService['record']>>): void {
    this.services.access.record(this.principal, action, kind, id);
  }
}

type Tail<T extends readonly unknown[]> = T extends readonly [unknown, ...infer R] ? R : never;
