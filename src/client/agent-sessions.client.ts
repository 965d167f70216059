import { DAY_MS } from '../kernel/index.js';
import { UserErasureService, type Erasure } from '../agent/index.js';
import type { Principal } from '../kernel/index.js';
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
}

/**
 * Sessions of an agent from `createAgent`, in its principal's tenant. The methods equal the REST routes of the same
 * names.
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
  list({ limit = 50, after }: { limit?: number; after?: SessionPlace } = {}): Promise<SessionRecord[]> {
    return this.services.admin.list(this.principal, limit, after);
  }

  /** @throws AppError `SESSION_NOT_FOUND` */
  get(id: string): Promise<SessionRecord> {
    return this.services.sessions.get(this.principal, id);
  }

  /**
   * A page of messages in whole turns, oldest first. @param page `limit` in turns, 50 by default; `after` is a turn's
   * number @throws AppError `SESSION_NOT_FOUND`
   */
  turns(id: string, { limit = 50, after = 0 }: { limit?: number; after?: number } = {}): Promise<StoredTurn[]> {
    return this.services.sessions.turns(this.principal, id, after, limit);
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
  clear(id: string): Promise<void> {
    return this.services.admin.clear(this.principal, id);
  }

  /** @throws AppError `SESSION_NOT_FOUND`, `SESSION_BUSY` */
  delete(id: string): Promise<void> {
    return this.services.admin.remove(this.principal, id);
  }

  /**
   * Deletes sessions without activity for `olderThanDays` days. @returns how many were deleted, and how many stay
   * because of unfinished runs
   */
  prune(olderThanDays: number): Promise<PrunedSessions> {
    return this.services.admin.prune(this.principal, Date.now() - olderThanDays * DAY_MS);
  }

  /** Exports a whole session, signed for its tenant. @throws AppError `SESSION_NOT_FOUND` */
  export(id: string): Promise<SessionExport> {
    return this.services.admin.export(this.principal, id);
  }

  /**
   * Imports an exported session; the agent's principal becomes its owner. Without a valid signature the session is
   * tainted, unless `isTrusted`, which needs the scope `sessions:trust`. @throws AppError `VALIDATION_FAILED`,
   * `SESSION_EXISTS`, `INPUT_BLOCKED`, `FORBIDDEN`
   */
  import(exported: SessionExport, id?: string, isTrusted = false): Promise<SessionRecord> {
    return this.services.admin.import(this.principal, exported, id, { isTrusted });
  }

  /** Erases a user of the tenant: sessions, runs, facts. @throws AppError `NOT_FOUND`, `SESSION_BUSY` */
  eraseUser(userId: string): Promise<Erasure> {
    return this.services.users.erase(this.principal, userId);
  }
}
