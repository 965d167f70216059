import {
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { messageOf } from '../../common/index.js';
import type { ProjectedTurnStore } from './projected-turn-store.js';
import type { SessionChangeStore } from './session-change.store.js';
import type { TurnArchive } from './turn-archive.js';

const EVERY_MS = 1000;
const SESSIONS_A_SWEEP = 100;

/** Does in the archive what nobody has read since: what was decided gets there even when nobody asks for the session. */
export class SessionProjectionService
  implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  private readonly logger = new Logger(SessionProjectionService.name);
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> = Promise.resolve();
  private isClosing = false;

  constructor(
    private readonly changes: SessionChangeStore,
    private readonly turns: ProjectedTurnStore,
    private readonly archive: TurnArchive,
  ) {}

  onApplicationBootstrap(): void {
    this.schedule();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isClosing = true;
    clearTimeout(this.timer);
    await this.sweeping;
    await this.sweep(Date.now());
  }

  async onApplicationShutdown(): Promise<void> {
    await this.archive.close();
  }

  /** Settles sessions for which something has waited since before a time, epoch ms. */
  async sweep(before: number): Promise<void> {
    try {
      const late = await this.changes.late(before, SESSIONS_A_SWEEP);
      for (const key of late) await this.turns.settle(key);
    } catch (error) {
      this.logger.warn(`The store of sessions: ${messageOf(error)}; what waits for it is kept and tried again`);
    }
  }

  private schedule(): void {
    this.timer = setTimeout(() => {
      this.sweeping = this.sweep(Date.now() - EVERY_MS).finally(() => this.isClosing || this.schedule());
    }, EVERY_MS).unref();
  }
}
