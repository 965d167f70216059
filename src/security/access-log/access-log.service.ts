import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationShutdown } from '@nestjs/common';
import { Log } from '../../errors/index.js';
import { newId, type Principal } from '../../kernel/index.js';
import { securityConfig, type SecurityConfig } from '../../config/namespaces/index.js';
import { hasScope } from '../request-authenticator.service.js';
import { AccessLogStore } from './access-log.store.js';
import {
  REPORTED_ACTIONS,
  type AccessAction,
  type AccessEntry,
  type AccessFilter,
  type AccessTarget,
} from './access-log.types.js';

/** Maximum delay until an entry is written, in ms; a crash loses at most this much of the log. */
const WRITE_MS = 500;
const ENTRIES_A_BATCH = 200;
const RETRY_MS = 5_000;
/** Width of the column, in characters. */
const MAX_NAME = 128;
/** Maximum buffered entries while the database is unavailable. */
const MOST_WAITING = 100_000;

/**
 * Records which principal read, exported or erased which data, outside of the request path. A clean stop writes all
 * entries; a crash may lose the last `WRITE_MS`.
 */
@Injectable()
export class AccessLogService implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly logger = new Log(AccessLogService.name);
  private readonly isEnabled: boolean;
  private waiting: AccessEntry[] = [];
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | null = null;
  private lost = 0;
  /** Orders entries of the same millisecond. */
  private count = 0;

  constructor(
    private readonly store: AccessLogStore,
    @Inject(securityConfig.KEY) { accessLog }: SecurityConfig,
  ) {
    this.isEnabled = accessLog.isEnabled;
  }

  /**
   * Records one access; call it after the access was authorised.
   * @param targetId empty for a list of the kind
   */
  record({ tenant, id: principal }: Principal, action: AccessAction, targetKind: AccessTarget, targetId: string): void {
    this.report({ tenant, principal, action, targetKind, targetId });
    if (!this.isEnabled) return;
    if (this.waiting.length >= MOST_WAITING) {
      this.lost++;
      return;
    }
    const at = Date.now();
    const id = `${String(this.count++).padStart(12, '0')}-${newId()}`;
    this.waiting.push({
      id,
      tenant,
      at,
      principal: storable(principal),
      action,
      targetKind,
      targetId: storable(targetId),
    });
    if (this.waiting.length === ENTRIES_A_BATCH) void this.writeAll();
    else this.schedule(WRITE_MS);
  }

  private report({ action, ...access }: Omit<AccessEntry, 'id' | 'at'>): void {
    if (!(REPORTED_ACTIONS as readonly string[]).includes(action)) return;
    const entry = { action, ...access };
    if (action === 'refuse') this.logger.warn(entry, 'Request refused');
    else this.logger.log(entry, `Access: ${action} ${access.targetKind}`);
  }

  /**
   * A tenant's entries, newest first; for an operator also those of callers without a tenant. Includes entries of other
   * processes once they are written.
   * @param before the last entry of the previous page
   */
  async list(
    principal: Principal,
    filter: AccessFilter,
    limit: number,
    before?: Pick<AccessEntry, 'at' | 'id'>,
  ): Promise<AccessEntry[]> {
    await this.writeAll();
    const tenants = hasScope(principal, 'operate') ? [principal.tenant, ''] : [principal.tenant];
    return this.store.list(tenants, filter, limit, before);
  }

  /** Writes all buffered entries. Resolves when they are durable, or when the database refuses them now. */
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

  /** Writes the entries of requests that were still open at the first flush. */
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
        this.logger.error(
          { err },
          `Failed to write the access log; ${this.waiting.length} entries are buffered, retrying`,
        );
        this.schedule(RETRY_MS);
        return;
      }
      this.waiting = this.waiting.slice(batch.length);
    }
    if (this.lost > 0)
      this.logger.error(
        `Access log entries lost: ${this.lost}; the buffer was full while the database was unavailable`,
      );
    this.lost = 0;
  }
}

/** Makes any principal id storable: an application's ids may be too long or hold NUL, and must not block the log. */
function storable(name: string): string {
  return name.slice(0, MAX_NAME).toWellFormed().replaceAll('\0', '\ufffd');
}
