import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { withLongCalls } from '../../persistence/index.js';
import { Log } from '../../errors/index.js';
import { RecurringWork, DAY_MS } from '../../kernel/index.js';
import { securityConfig, type SecurityConfig } from '../../config/namespaces/index.js';
import { AccessLogStore } from './access-log.store.js';

const FIRST_SWEEP_MS = 90_000;
const SWEEP_EVERY_MS = 3_600_000;
const ENTRIES_A_BATCH = 500;
/** Limit of one sweep: a wrong clock must not delete everything at once. */
const BATCHES_A_SWEEP = 100;
/** Delay of the next sweep after one that reached the limit, in ms. */
const NEXT_SWEEP_MS = 60_000;

/** Deletes expired access log entries in batches. Every process runs it; the deletion is idempotent. */
@Injectable()
export class AccessLogRetentionService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Log(AccessLogRetentionService.name);
  private readonly sweeps = new RecurringWork({
    work: () => this.sweep(Date.now()).then((hasMore) => (hasMore ? NEXT_SWEEP_MS : SWEEP_EVERY_MS)),
    onFailure: (err) => this.logger.error({ err }, 'Failed to delete expired access log entries; retrying'),
    retryMs: SWEEP_EVERY_MS,
    onClockJump: (jumpMs) =>
      this.logger.warn(
        { jump_ms: jumpMs },
        'Wall clock jumped; entries of the access log are not deleted for 10 minutes',
      ),
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

  /** Deletes entries older than the retention period. @param now epoch ms @returns whether there may be more */
  sweep(now: number): Promise<boolean> {
    return withLongCalls(() => this.sweepAll(now));
  }

  private async sweepAll(now: number): Promise<boolean> {
    const { keptDays } = this.config.accessLog;
    if (keptDays === 0) return false;
    const before = now - keptDays * DAY_MS;
    for (
      let batches = 1;
      !this.sweeps.isStopping && (await this.store.dropBefore(before, ENTRIES_A_BATCH));
      batches++
    ) {
      if (batches >= BATCHES_A_SWEEP) {
        this.logger.log(`Deleted ${batches * ENTRIES_A_BATCH} entries of the access log; the next sweep continues`);
        return true;
      }
      await this.sweeps.rest();
    }
    return false;
  }
}
