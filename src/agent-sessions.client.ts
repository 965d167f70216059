import { DAY_MS } from './common/index.js';
import { UserErasureService, type Erasure } from './agent/index.js';
import type { Principal } from './common/index.js';
import {
  SessionKeeper,
  SessionService,
  type PrunedSessions,
  type SessionExport,
  type SessionOptions,
  type SessionPlace,
  type SessionRecord,
  type StoredTurn,
} from './session/index.js';

/** The services that sessions are looked after with. */
export interface SessionServices {
  readonly sessions: SessionService;
  readonly keeper: SessionKeeper;
  readonly users: UserErasureService;
}

/** The sessions of an agent from `createAgent`, as the REST routes of the same names: those of its principal's tenant. */
export class AgentSessions {
  constructor(
    private readonly principal: Principal,
    private readonly services: SessionServices,
  ) {}

  /** Begins a session before anything is said in it. @throws AppError `SESSION_EXISTS`, `VALIDATION_FAILED` */
  create(options: SessionOptions = {}): Promise<SessionRecord> {
    return this.services.keeper.create(this.principal, options);
  }

  /** A page of sessions, those begun last first. @param page by default 50, `after` the last one of the page before */
  list({ limit = 50, after }: { limit?: number; after?: SessionPlace } = {}): Promise<SessionRecord[]> {
    return this.services.keeper.list(this.principal, limit, after);
  }

  /** @throws AppError `SESSION_NOT_FOUND` */
  get(id: string): Promise<SessionRecord> {
    return this.services.sessions.get(this.principal, id);
  }

  /** A page of what was said, whole turns, oldest first. @param page by default 50 turns, `after` that one @throws AppError `SESSION_NOT_FOUND` */
  turns(id: string, { limit = 50, after = 0 }: { limit?: number; after?: number } = {}): Promise<StoredTurn[]> {
    return this.services.sessions.turns(this.principal, id, after, limit);
  }

  /** Replaces what is kept with a session; `get` tells it. @throws AppError `SESSION_NOT_FOUND` */
  setMetadata(id: string, metadata: SessionRecord['metadata']): Promise<void> {
    return this.services.keeper.setMetadata(this.principal, id, metadata);
  }

  /** Keeps a turn in sight of runs, or not any more. @throws AppError `SESSION_NOT_FOUND`, `NOT_FOUND` */
  pin(id: string, turn: number, isPinned = true): Promise<void> {
    return this.services.keeper.pin(this.principal, id, turn, isPinned);
  }

  /** Forgets what was said. @throws AppError `SESSION_NOT_FOUND`, `SESSION_BUSY` */
  clear(id: string): Promise<void> {
    return this.services.keeper.clear(this.principal, id);
  }

  /** @throws AppError `SESSION_NOT_FOUND`, `SESSION_BUSY` */
  delete(id: string): Promise<void> {
    return this.services.keeper.remove(this.principal, id);
  }

  /** Deletes the sessions in which nothing has happened for so many days. @returns how many, and how many runs hold */
  prune(olderThanDays: number): Promise<PrunedSessions> {
    return this.services.keeper.prune(this.principal, Date.now() - olderThanDays * DAY_MS);
  }

  /** A session whole. @throws AppError `SESSION_NOT_FOUND` */
  export(id: string): Promise<SessionExport> {
    return this.services.keeper.export(this.principal, id);
  }

  /** Takes in a session that was exported, as this agent's own. @throws AppError `VALIDATION_FAILED`, `SESSION_EXISTS` */
  import(exported: SessionExport, id?: string): Promise<SessionRecord> {
    return this.services.keeper.import(this.principal, exported, id);
  }

  /** Forgets a user of the tenant: sessions, runs, facts. @throws AppError `NOT_FOUND`, `SESSION_BUSY` */
  eraseUser(userId: string): Promise<Erasure> {
    return this.services.users.erase(this.principal, userId);
  }
}
