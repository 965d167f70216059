import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { runConfig, type RunConfig } from '../../config/namespaces/index.js';
import { AppError } from '../../errors/index.js';
import { HEAP_COST, HeapBudget, HeapReservation } from '../../kernel/index.js';
import { Database } from '../../persistence/index.js';
import type { SqlValue } from '../../persistence/statement/index.js';
import type { RunHead, RunRecord } from '../run.types.js';

/** Runs of one status that are counted at most. */
const MAX_COUNTED = 10_000;

/** The unfinished runs that no process executes. */
export interface OpenRuns {
  /** At most 10,000, as `waiting`. */
  readonly queued: number;
  readonly waiting: number;
  /** Start of the longest wait, epoch ms; `null` without a waiting run. */
  readonly waitingSince: number | null;
}

/** Counts of runs in the journal, the same for all processes that share it. */
@Injectable()
export class RunLoadStore {
  constructor(private readonly database: Database) {}

  running(column: 'tenant' | 'agent', value: string): Promise<number> {
    return this.count(`status = 'running' AND ${column} = ?`, [value]);
  }

  queued(): Promise<number> {
    return this.count(`status = 'queued'`, []);
  }

  /** Runs of all tenants that are queued, or wait for a person. */
  async open(): Promise<OpenRuns> {
    const [queued, waiting] = await Promise.all(['queued', 'waiting'].map((status) => this.bounded(status)));
    return { queued: queued!.count, waiting: waiting!.count, waitingSince: waiting!.since };
  }

  private async bounded(status: string): Promise<{ count: number; since: number | null }> {
    const [row] = await this.database.query<{ n: number | string; since: number | null }>(
      `SELECT COUNT(*) AS n, MIN(since) AS since FROM (SELECT COALESCE(changed_at, created_at) AS since
        FROM run WHERE status = ? ORDER BY created_at LIMIT ?) counted`,
      [status, MAX_COUNTED],
    );
    return { count: Number(row?.n ?? 0), since: row?.since ?? null };
  }

  queuedOf(tenant: string): Promise<number> {
    return this.count(`status = 'queued' AND tenant = ?`, [tenant]);
  }

  /** Number of runs the tenant started after a time (epoch ms), without child runs, and the time of the first. */
  async startedSince(tenant: string, since: number): Promise<{ count: number; first: number | null }> {
    const [row] = await this.database.query<{ n: number; first: number | null }>(
      'SELECT COUNT(*) AS n, MIN(created_at) AS first FROM run WHERE tenant = ? AND created_at > ? AND depth = 0',
      [tenant, since],
    );
    return { count: row?.n ?? 0, first: row?.first ?? null };
  }

  private async count(where: string, params: readonly SqlValue[]): Promise<number> {
    const [row] = await this.database.query<{ n: number }>(`SELECT COUNT(*) AS n FROM run WHERE ${where}`, params);
    return row?.n ?? 0;
  }
}

/** Suggested retry delay, in ms; another or the next process then answers. */
const RETRY_MS = 1_000;

/** The error of a start or of a creation during a shutdown. */
export function shuttingDown(): AppError {
  const message = 'The server is shutting down and accepts no new runs and sessions; retry in a moment.';
  return new AppError('SHUTTING_DOWN', message, { isRetryable: true, details: { retry_after_ms: RETRY_MS } });
}

/** The error of a request or a start for which the heap has no space. */
export function heapExhausted(): AppError {
  const message = 'The server has no memory for this request at the moment; retry later, or send a smaller one.';
  const retry_after_ms = Math.round(RETRY_MS * (1 + Math.random()));
  return new AppError('HEAP_EXHAUSTED', message, { isRetryable: true, details: { retry_after_ms } });
}

/** Admits new runs and sessions. At a shutdown it rejects new ones and waits for the admitted ones. */
@Injectable()
export class RunAdmissionService implements OnModuleDestroy {
  private closing = false;
  /** Admitted runs and sessions that are being stored or claimed. */
  private readonly admitted = new Set<Promise<unknown>>();

  constructor(private readonly heap: HeapBudget) {}

  get isClosing(): boolean {
    return this.closing;
  }

  onModuleDestroy(): void {
    this.stop();
  }

  /** Rejects new runs and sessions; the server is not ready any more. */
  stop(): void {
    this.closing = true;
  }

  /**
   * @param content size of the new run's input, in UTF-16 units; 0 if no new run starts
   * @throws AppError `SHUTTING_DOWN`, `HEAP_EXHAUSTED`
   */
  async admit<T>(begin: () => Promise<T>, content = 0): Promise<T> {
    if (this.closing) throw shuttingDown();
    return this.track(this.reserved(begin, content));
  }

  /**
   * Reserves heap for the execution of a stored run, within the reservation of its request if there is one. The caller
   * releases it.
   * @param sizeOf reads the bytes of the run's input and steps
   * @returns null if the run must wait; a child run never waits, as its parent waits for it
   */
  async reserve(run: RunHead, sizeOf: (run: RunHead) => Promise<number>): Promise<HeapReservation | null> {
    const { current } = HeapReservation;
    if (current) return current.retain();
    const bytes = (await sizeOf(run)) * HEAP_COST.journal;
    return run.lineage ? this.heap.openAnyway(bytes) : this.heap.openAccepted(bytes);
  }

  /** A request has a reservation already; a start by the application gets one. */
  private async reserved<T>(begin: () => Promise<T>, content: number): Promise<T> {
    if (content === 0 || HeapReservation.current) return begin();
    const reservation = this.heap.open(content * HEAP_COST.request);
    if (!reservation) throw heapExhausted();
    try {
      return await reservation.run(begin);
    } finally {
      reservation.release();
    }
  }

  /** Work that a shutdown waits for. */
  async track<T>(work: Promise<T>): Promise<T> {
    this.admitted.add(work);
    try {
      return await work;
    } finally {
      this.admitted.delete(work);
    }
  }

  /** Rejects new runs; resolves when all admitted runs have started and no tracked work is left. */
  async close(): Promise<void> {
    this.stop();
    while (this.admitted.size > 0) await Promise.allSettled(this.admitted);
  }
}

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
