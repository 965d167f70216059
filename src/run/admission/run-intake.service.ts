import { Inject, Injectable } from '@nestjs/common';
import { runConfig, type RunConfig } from '../../config/index.js';
import { AppError } from '../../errors/index.js';
import type { RunRecord } from '../run.types.js';
import { RunLoadStore } from './run-load.store.js';

const MINUTE_MS = 60_000;
/** Suggested retry delay for a full queue, in ms. */
const QUEUE_RETRY_MS = 5_000;

/** Admission limits: runs per minute of a tenant, and queued runs. */
@Injectable()
export class RunIntakeService {
  private readonly limits: RunConfig;
  /** Admitted runs that are not journaled yet, by tenant. */
  private readonly admitting = new Map<string, number>();

  constructor(
    private readonly load: RunLoadStore,
    @Inject(runConfig.KEY) config: RunConfig,
  ) {
    this.limits = config;
  }

  /**
   * Admits a tenant's run to the journal.
   * @throws AppError `RUN_RATE_LIMITED` when the tenant has reached its limit per minute
   */
  async admit<T>(tenant: string, begin: () => Promise<T>): Promise<T> {
    if (this.limits.tenantRatePerMinute === 0) return begin();
    const admitting = this.admitting.get(tenant) ?? 0;
    this.admitting.set(tenant, admitting + 1);
    try {
      await this.checkRate(tenant, admitting);
      return await begin();
    } finally {
      const left = this.admitting.get(tenant)! - 1;
      if (left === 0) this.admitting.delete(tenant);
      else this.admitting.set(tenant, left);
    }
  }

  /** @throws AppError `RUN_QUEUE_FULL`, `TENANT_QUEUE_FULL` when no more runs can be queued */
  async checkQueue(tenant: string): Promise<void> {
    const { queueLimit, tenantQueueLimit } = this.limits;
    if ((await this.load.queued()) >= queueLimit) {
      throw refused('RUN_QUEUE_FULL', `The run queue is full (${queueLimit} runs); retry later.`);
    }
    if (tenantQueueLimit > 0 && (await this.load.queuedOf(tenant)) >= tenantQueueLimit) {
      const message = `The run queue of this tenant is full (${tenantQueueLimit} runs); retry later.`;
      throw refused('TENANT_QUEUE_FULL', message);
    }
  }

  /**
   * Checks whether a chat may queue behind the open run of its session.
   * @throws AppError `SESSION_BUSY` when that run waits for a decision, or when chats may not queue in a session
   */
  checkSession(open: Pick<RunRecord, 'id' | 'sessionId' | 'status'> | null): void {
    if (!open || (open.status !== 'waiting' && this.limits.sessionBusy === 'queue')) return;
    const { id, sessionId, status } = open;
    const [what, remedy] =
      status === 'waiting'
        ? ['waits for a decision', 'decide or cancel it']
        : ['has not ended', 'wait for it, or cancel it'];
    throw new AppError(
      'SESSION_BUSY',
      `Session "${sessionId}" is held by run "${id}", which ${what}; ${remedy} first.`,
      {
        isRetryable: status !== 'waiting',
        details: { run_id: id },
      },
    );
  }

  private async checkRate(tenant: string, admitting: number): Promise<void> {
    const limit = this.limits.tenantRatePerMinute;
    const now = Date.now();
    const { count, first } = await this.load.startedSince(tenant, now - MINUTE_MS);
    if (count + admitting < limit) return;
    const message = `This tenant has reached its limit of ${limit} new runs per minute; retry later.`;
    throw refused('RUN_RATE_LIMITED', message, (first ?? now) + MINUTE_MS - now);
  }
}

function refused(
  code: 'RUN_RATE_LIMITED' | 'RUN_QUEUE_FULL' | 'TENANT_QUEUE_FULL',
  message: string,
  retryMs = QUEUE_RETRY_MS,
): AppError {
  return new AppError(code, message, { isRetryable: true, details: { retry_after_ms: Math.max(retryMs, 1) } });
}
