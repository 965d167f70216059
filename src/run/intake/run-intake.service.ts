import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/index.js';
import { AppConfig } from '../../config/index.js';
import type { RunRecord } from '../run.types.js';
import { RunLoadStore } from './run-load.store.js';

const MINUTE_MS = 60_000;
/** When to come back to a queue that is full, in ms. */
const QUEUE_RETRY_MS = 5_000;

/** What is taken in at all: so many runs a minute of a tenant, so many waiting ones. */
@Injectable()
export class RunIntakeService {
  private readonly limits: AppConfig['run'];
  /** Runs that were let in and are not journaled yet, by tenant. */
  private readonly entering = new Map<string, number>();

  constructor(
    private readonly load: RunLoadStore,
    config: AppConfig,
  ) {
    this.limits = config.run;
  }

  /**
   * Lets a tenant's run be journaled.
   * @throws AppError `RUN_RATE_LIMITED` when the tenant has begun as many as it may in a minute
   */
  async letIn<T>(tenant: string, begin: () => Promise<T>): Promise<T> {
    if (this.limits.tenantRatePerMinute === 0) return begin();
    const entering = this.entering.get(tenant) ?? 0;
    this.entering.set(tenant, entering + 1);
    try {
      await this.checkRate(tenant, entering);
      return await begin();
    } finally {
      const left = this.entering.get(tenant)! - 1;
      if (left === 0) this.entering.delete(tenant);
      else this.entering.set(tenant, left);
    }
  }

  /** @throws AppError `RUN_QUEUE_FULL`, `TENANT_QUEUE_FULL` when nothing more can wait */
  async checkQueue(tenant: string): Promise<void> {
    const { queueLimit, tenantQueueLimit } = this.limits;
    if ((await this.load.queued()) >= queueLimit) {
      throw refused('RUN_QUEUE_FULL', `${queueLimit} runs are queued, and no more are taken now; try again later.`);
    }
    if (tenantQueueLimit > 0 && (await this.load.queuedOf(tenant)) >= tenantQueueLimit) {
      const message = `${tenantQueueLimit} runs of this tenant are queued, and no more may be; try again later.`;
      throw refused('TENANT_QUEUE_FULL', message);
    }
  }

  /**
   * Whether a chat may wait behind the open run of its session.
   * @throws AppError `SESSION_BUSY` when that waits for a person, or when no chat may wait in a session
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

  private async checkRate(tenant: string, entering: number): Promise<void> {
    const limit = this.limits.tenantRatePerMinute;
    const now = Date.now();
    const { count, first } = await this.load.begunSince(tenant, now - MINUTE_MS);
    if (count + entering < limit) return;
    const message = `This tenant may begin ${limit} runs a minute, and has; try again later.`;
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
