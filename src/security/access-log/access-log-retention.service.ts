import { Injectable, Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { AppConfig } from '../../config/index.js';
import { AccessLogStore } from './access-log.store.js';

const DAY_MS = 86_400_000;
const FIRST_SWEEP_MS = 90_000;
const SWEEP_EVERY_MS = 3_600_000;
/** Between two batches others have the database to themselves. */
const PAUSE_MS = 20;
const ENTRIES_A_BATCH = 500;

/** Deletes old entries of the access log, a few at a time. Every process does it; doing it twice does no harm. */
@Injectable()
export class AccessLogRetentionService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(AccessLogRetentionService.name);
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<unknown> = Promise.resolve();
  private isClosing = false;

  constructor(
    private readonly store: AccessLogStore,
    private readonly config: AppConfig,
  ) {}

  /** Also when nothing is recorded any more: what was is to go in its time. */
  onApplicationBootstrap(): void {
    if (this.config.accessLog.keptDays > 0) this.schedule(FIRST_SWEEP_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isClosing = true;
    clearTimeout(this.timer);
    await this.sweeping.catch(() => undefined);
  }

  /** Deletes all that is too old at a time. @param now epoch ms */
  async sweep(now: number): Promise<void> {
    const { keptDays } = this.config.accessLog;
    if (keptDays === 0) return;
    while (!this.isClosing && (await this.store.dropBefore(now - keptDays * DAY_MS, ENTRIES_A_BATCH))) {
      await pause(PAUSE_MS, undefined, { ref: false });
    }
  }

  private schedule(delayMs: number): void {
    this.timer = setTimeout(() => {
      this.sweeping = this.sweep(Date.now()).catch((err: unknown) => {
        this.logger.error({ err }, 'Old entries of the access log could not be deleted; they are tried again');
      });
      void this.sweeping.then(() => this.isClosing || this.schedule(SWEEP_EVERY_MS));
    }, delayMs);
    this.timer.unref();
  }
}
