import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { messageOf, RecurringWork } from '../../common/index.js';
import { AppConfig } from '../../config/index.js';
import { Database } from '../../persistence/index.js';
import { Cipher } from '../../security/index.js';
import type { StateHome } from './homes/state-home.js';
import { StateHomeRegistry } from './state-home.registry.js';
import { StateChangeStore } from './stores/state-change.store.js';

const AT_ONCE = 200;
/** What has just been decided is being carried over by the call itself, in ms. */
const YOUNG_MS = 5_000;

/** What is done for states in the background: expired ones are deleted, and changes that wait are carried over. */
@Injectable()
export class ToolStateUpkeep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('ToolState');
  private readonly changes: StateChangeStore;
  private readonly works: RecurringWork[] = [];

  constructor(
    private readonly config: AppConfig,
    private readonly homes: StateHomeRegistry,
    database: Database,
    cipher: Cipher,
  ) {
    this.changes = new StateChangeStore(database, cipher);
  }

  onApplicationBootstrap(): void {
    const { cleanupIntervalMs, sync } = this.config.toolState;
    if (cleanupIntervalMs !== null) this.every(cleanupIntervalMs, () => this.sweep());
    this.every(sync.intervalMs, () => this.sync(sync.isOnChange ? YOUNG_MS : 0));
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.works.map((work) => work.stop()));
  }

  /** Deletes what has expired where states are kept in use here. @returns how many contexts */
  async sweep(): Promise<number> {
    let swept = 0;
    for (const home of await this.homes.opened()) swept += await this.sweepHome(home);
    return swept;
  }

  private async sweepHome(home: StateHome): Promise<number> {
    for (let swept = 0; ;) {
      const ids = await home.store.expired(Date.now(), AT_ONCE);
      for (const id of ids) swept += (await home.removeExpired(id)) ? 1 : 0;
      if (ids.length < AT_ONCE) return swept;
    }
  }

  /** Carries over what has waited for longer than `youngMs`. */
  async sync(youngMs: number): Promise<void> {
    for (;;) {
      const late = await this.changes.late(Date.now() - youngMs, AT_ONCE);
      for (const { contextId, home } of late) await (await this.homes.of(home)).catchUp(contextId);
      if (late.length < AT_ONCE) return;
    }
  }

  private every(intervalMs: number, work: () => Promise<unknown>): void {
    const recurring = new RecurringWork({
      work: async () => {
        await work();
        return intervalMs;
      },
      onFailure: (error) => this.logger.warn(`Tool states could not be looked after: ${messageOf(error)}`),
      retryMs: intervalMs,
    });
    recurring.start(intervalMs);
    this.works.push(recurring);
  }
}
