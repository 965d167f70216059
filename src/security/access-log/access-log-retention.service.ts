import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Log } from '../../errors/index.js';
import { RecurringWork, DAY_MS } from '../../kernel/index.js';
import { securityConfig, type SecurityConfig } from '../../config/index.js';
import { AccessLogStore } from './access-log.store.js';

const FIRST_SWEEP_MS = 90_000;
const SWEEP_EVERY_MS = 3_600_000;
const ENTRIES_A_BATCH = 500;

/** Deletes expired access log entries in batches. Every process runs it; the deletion is idempotent. */
@Injectable()
export class AccessLogRetentionService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Log(AccessLogRetentionService.name);
  private readonly sweeps = new RecurringWork({
    work: () => this.sweep(Date.now()).then(() => SWEEP_EVERY_MS),
    onFailure: (err) => this.logger.error({ err }, 'Failed to delete expired access log entries; retrying'),
    retryMs: SWEEP_EVERY_MS,
  });

  constructor(
    private readonly store: AccessLogStore,
    @Inject(securityConfig.KEY) private readonly config: SecurityConfig,
  ) {}

  /** Runs even while recording is off, so that existing entries still expire. */
  async onApplicationBootstrap(): Promise<void> {
    if (this.config.accessLog.keptDays > 0) await this.store.onceOpen(() => this.sweeps.start(FIRST_SWEEP_MS));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.sweeps.stop();
  }

  /** Deletes all entries older than the retention period. @param now epoch ms */
  async sweep(now: number): Promise<void> {
    const { keptDays } = this.config.accessLog;
    if (keptDays === 0) return;
    while (!this.sweeps.isStopping && (await this.store.dropBefore(now - keptDays * DAY_MS, ENTRIES_A_BATCH))) {
      await this.sweeps.rest();
    }
  }
}
