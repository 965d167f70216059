import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { AppError, messageOf, RecurringWork } from '../../common/index.js';
import { AppConfig } from '../../config/index.js';
import { Database } from '../../persistence/index.js';
import { Cipher } from '../../security/index.js';
import type { StateBackend } from './backend/state-backend.js';
import { StateBackendRegistry } from './state-backend.registry.js';
import { StateChangeStore } from './stores/state-change.store.js';
import { isDamage } from './tool-state.error.js';
import { UsedBackendService } from './used-backend.service.js';

const AT_ONCE = 200;
/** Minimum age of a pending change, in ms: the call itself applies younger ones. */
const YOUNG_MS = 5_000;

/** Background maintenance of states: deletes expired contexts and applies pending changes. */
@Injectable()
export class ToolStateMaintenanceService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('ToolState');
  private readonly changes: StateChangeStore;
  private readonly works: RecurringWork[] = [];

  constructor(
    private readonly config: AppConfig,
    private readonly homes: StateBackendRegistry,
    private readonly used: UsedBackendService,
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

  /** Deletes expired contexts of all backends. @returns number of deleted contexts */
  async sweep(): Promise<number> {
    let swept = 0;
    for (const home of await this.used.all()) swept += await this.sweepHome(home);
    return swept;
  }

  private async sweepHome(home: StateBackend): Promise<number> {
    for (let swept = 0; ;) {
      const ids = await home.store.expired(Date.now(), AT_ONCE);
      for (const id of ids) swept += (await home.removeExpired(id)) ? 1 : 0;
      if (ids.length < AT_ONCE) return swept;
    }
  }

  /** Applies changes pending for longer than `youngMs`. @throws AppError as `carryOver` */
  async sync(youngMs: number): Promise<void> {
    throwFirst(await this.carry(Date.now() - youngMs));
  }

  /**
   * Applies all pending changes of a tenant; until then its stores are incomplete.
   * @throws AppError `TOOL_STATE_UNAVAILABLE` for a failed change; all other changes are applied
   */
  async carryOver(tenant: string): Promise<void> {
    throwFirst(await this.carry(Number.MAX_SAFE_INTEGER, tenant));
  }

  /** As `carryOver`, but ignores damaged contexts: their readers get the error. */
  async carryReadable(tenant: string): Promise<void> {
    const failed = await this.carry(Number.MAX_SAFE_INTEGER, tenant);
    throwFirst(failed.filter((error) => !isDamage(error)));
  }

  /** @param before epoch ms @returns errors of the changes that could not be applied */
  private async carry(before: number, tenant?: string): Promise<unknown[]> {
    const failed = new Map<string, unknown>();
    for (;;) {
      const late = await this.changes.late(before, AT_ONCE + failed.size, tenant);
      const next = late.filter(({ contextId }) => !failed.has(contextId));
      if (next.length === 0) break;
      for (const { contextId, home } of next) {
        await (await this.homes.of(home)).catchUp(contextId).catch((error: unknown) => {
          // A damaged context must not block others; an unavailable store fails for all.
          if (error instanceof AppError && error.isRetryable) throw error;
          failed.set(contextId, error);
        });
      }
    }
    return [...failed.values()];
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

function throwFirst(errors: readonly unknown[]): void {
  for (const error of errors) throw error;
}
