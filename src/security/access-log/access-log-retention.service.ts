import { Injectable, Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { RecurringWork, DAY_MS } from '../../common/index.js';
import { AppConfig } from '../../config/index.js';
import { AccessLogStore } from './access-log.store.js';

const FIRST_SWEEP_MS = 90_000;
const SWEEP_EVERY_MS = 3_600_000;
const ENTRIES_A_BATCH = 500;

/** Deletes old entries of the access log, a few at a time. Every process does it; doing it twice does no harm. */
@Injectable()
export class AccessLogRetentionService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(AccessLogRetentionService.name);
  private readonly sweeps = new RecurringWork({
    work: () => this.sweep(Date.now()).then(() => SWEEP_EVERY_MS),
    onFailure: (err) =>
      this.logger.error({ err }, 'Old entries of the access log could not be deleted; they are tried again'),
    retryMs: SWEEP_EVERY_MS,
  });

  constructor(
    private readonly store: AccessLogStore,
    private readonly config: AppConfig,
  ) {}

  /** Also when nothing is recorded any more: what was is to go in its time. */
  onApplicationBootstrap(): void {
    if (this.config.accessLog.keptDays > 0) this.sweeps.start(FIRST_SWEEP_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.sweeps.stop();
  }

  /** Deletes all that is too old at a time. @param now epoch ms */
  async sweep(now: number): Promise<void> {
    const { keptDays } = this.config.accessLog;
    if (keptDays === 0) return;
    while (!this.sweeps.isStopping && (await this.store.dropBefore(now - keptDays * DAY_MS, ENTRIES_A_BATCH))) {
      await this.sweeps.rest();
    }
  }
}
