import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Log } from '../errors/index.js';
import { sessionConfig, type SessionConfig } from '../config/namespaces/index.js';
import { RecurringWork } from '../kernel/index.js';
import { Database, withLongCalls } from '../persistence/index.js';
import { SessionAdminService } from './session-admin.service.js';

/** Longest and shortest interval of sweeps, in ms; between them a tenth of the lifetime. */
const MAX_EVERY_MS = 600_000;
const MIN_EVERY_MS = 500;
/** Maximum sessions that one sweep deletes: a wrong clock must not empty the store at once. */
const MAX_DELETED = 1000;
/** Delay of the next sweep after one that reached this limit, in ms. */
const NEXT_MS = 10_000;

/** Deletes sessions after `SESSION_TTL_SECONDS`, in every store. Every process runs it; the deletion is idempotent. */
@Injectable()
export class SessionExpiryService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Log(SessionExpiryService.name);
  private readonly ttlMs: number;
  private readonly everyMs: number;
  private readonly sweeps: RecurringWork;

  constructor(
    @Inject(sessionConfig.KEY) { ttlSeconds }: SessionConfig,
    private readonly sessions: SessionAdminService,
    private readonly database: Database,
  ) {
    this.ttlMs = ttlSeconds * 1000;
    this.everyMs = Math.max(MIN_EVERY_MS, Math.min(MAX_EVERY_MS, this.ttlMs / 10));
    this.sweeps = new RecurringWork({
      work: () => this.sweep(Date.now()).then((hasMore) => (hasMore ? Math.min(this.everyMs, NEXT_MS) : this.everyMs)),
      onFailure: (err) => this.logger.error({ err }, 'Failed to delete expired sessions; retrying'),
      retryMs: this.everyMs,
      onClockJump: (jumpMs) =>
        this.logger.warn({ jump_ms: jumpMs }, 'Wall clock jumped; expired sessions are not deleted for 10 minutes'),
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.ttlMs > 0) await this.database.onceOpen(() => this.sweeps.start(MIN_EVERY_MS));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.sweeps.stop();
  }

  /** Deletes expired sessions. @param now epoch ms @returns whether there may be more */
  sweep(now: number): Promise<boolean> {
    return withLongCalls(() => this.sweepAll(now));
  }

  private async sweepAll(now: number): Promise<boolean> {
    if (this.ttlMs === 0) return false;
    const deleted = await this.sessions.expire(now - this.ttlMs, () => this.sweeps.isStopping, MAX_DELETED);
    const hasMore = deleted >= MAX_DELETED;
    if (deleted > 0)
      this.logger.log(`Deleted ${deleted} expired sessions${hasMore ? '; the next sweep continues' : ''}`);
    return hasMore;
  }
}
