import { Injectable, Logger, type BeforeApplicationShutdown, type OnApplicationShutdown } from '@nestjs/common';
import { newId, type Principal } from '../../common/index.js';
import { AppConfig } from '../../config/index.js';
import { AccessLogStore } from './access-log.store.js';
import type { AccessAction, AccessEntry, AccessFilter, AccessTarget } from './access-log.types.js';

/** An entry is written after this time at the latest: so much of the log a crash may take along. */
const WRITE_MS = 500;
const ENTRIES_A_BATCH = 200;
const RETRY_MS = 5_000;
/** What the column holds, in characters. */
const MAX_NAME = 128;
/** While the database does not answer, no more than these are kept. */
const MOST_WAITING = 100_000;

/**
 * Records who read, exported or erased what, off the path of the request. A clean stop writes all of it; a crash may lose
 * the last moments.
 */
@Injectable()
export class AccessLogService implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly logger = new Logger(AccessLogService.name);
  private readonly isEnabled: boolean;
  private waiting: AccessEntry[] = [];
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | null = null;
  private lost = 0;
  /** Tells entries of one millisecond apart, in their order. */
  private count = 0;

  constructor(
    private readonly store: AccessLogStore,
    { accessLog }: AppConfig,
  ) {
    this.isEnabled = accessLog.isEnabled;
  }

  /**
   * Records what was done; call it when it was allowed.
   * @param targetId empty when all of a kind are meant
   */
  record({ tenant, id: principal }: Principal, action: AccessAction, targetKind: AccessTarget, targetId: string): void {
    if (!this.isEnabled) return;
    if (this.waiting.length >= MOST_WAITING) {
      this.lost++;
      return;
    }
    const at = Date.now();
    const id = `${String(this.count++).padStart(12, '0')}-${newId()}`;
    this.waiting.push({ id, tenant, at, principal: storable(principal), action, targetKind, targetId });
    if (this.waiting.length === ENTRIES_A_BATCH) void this.writeAll();
    else this.schedule(WRITE_MS);
  }

  /**
   * A tenant's entries, the newest first; those of other processes as far as they are written.
   * @param before the last entry of the page before
   */
  async list(
    { tenant }: Principal,
    filter: AccessFilter,
    limit: number,
    before?: Pick<AccessEntry, 'at' | 'id'>,
  ): Promise<AccessEntry[]> {
    await this.writeAll();
    return this.store.list(tenant, filter, limit, before);
  }

  /** Writes what waits. @returns when all of it is durable, or cannot be written now */
  async writeAll(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    while (this.writing) await this.writing;
    this.writing = this.write().finally(() => (this.writing = null));
    await this.writing;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.writeAll();
  }

  /** What the last requests did, which were still being answered. */
  async onApplicationShutdown(): Promise<void> {
    await this.writeAll();
    clearTimeout(this.timer);
  }

  private schedule(delayMs: number): void {
    this.timer ??= setTimeout(() => void this.writeAll(), delayMs).unref();
  }

  private async write(): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = this.waiting.slice(0, ENTRIES_A_BATCH);
      try {
        await this.store.add(batch);
      } catch (err) {
        this.logger.error({ err }, `${this.waiting.length} entries of the access log wait to be written`);
        this.schedule(RETRY_MS);
        return;
      }
      this.waiting = this.waiting.slice(batch.length);
    }
    if (this.lost > 0)
      this.logger.error(`${this.lost} entries of the access log were lost: the database was away too long`);
    this.lost = 0;
  }
}

/** An application may name its principals as it likes; no name may keep the whole log from being written. */
function storable(name: string): string {
  return name.slice(0, MAX_NAME).toWellFormed().replaceAll('\0', '\ufffd');
}
