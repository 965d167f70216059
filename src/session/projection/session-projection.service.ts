import {
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { messageOf, RecurringWork } from '../../common/index.js';
import type { ProjectedTurnStore } from './projected-turn-store.js';
import type { TurnArchive } from './turn-archive.js';

const EVERY_MS = 1000;
const PRUNE_EVERY_MS = 3_600_000;

/** Applies pending changes to the archive periodically, also for sessions that no client reads. */
export class SessionProjectionService
  implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  private readonly logger = new Logger(SessionProjectionService.name);
  private readonly sweeps = new RecurringWork({
    work: () => this.sweep(Date.now() - EVERY_MS).then(() => EVERY_MS),
    onFailure: (error) => this.warn(error),
    retryMs: EVERY_MS,
  });
  private pruneAt = 0;

  constructor(
    private readonly turns: ProjectedTurnStore,
    private readonly archive: TurnArchive,
  ) {}

  onApplicationBootstrap(): void {
    this.sweeps.start(EVERY_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.sweeps.stop();
    await this.sweep(Date.now());
  }

  async onApplicationShutdown(): Promise<void> {
    await this.archive.close();
  }

  /**
   * Applies changes pending since before a time, and prunes expired sessions.
   * @param before epoch ms
   * @param now epoch ms
   */
  async sweep(before: number, now = Date.now()): Promise<void> {
    await this.orLater(() => this.turns.settleLate(before, (work) => this.orLater(work)));
    if (now < this.pruneAt) return;
    this.pruneAt = now + PRUNE_EVERY_MS;
    await this.orLater(() => this.archive.prune(now));
  }

  /** @returns whether it succeeded */
  private async orLater(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.warn(error);
      return false;
    }
  }

  private warn(error: unknown): void {
    this.logger.warn(`Session store unavailable: ${messageOf(error)}; pending writes are stored and retried`);
  }
}
