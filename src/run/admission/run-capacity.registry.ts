import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { performance } from 'node:perf_hooks';
import { databaseConfig, type DatabaseConfig, runConfig, type RunConfig } from '../../config/namespaces/index.js';
import { AppError } from '../../errors/index.js';
import type { ClientWait, RunRecord } from '../run.types.js';
import { CapacityWait } from './capacity-wait.js';
import { RunLoadStore, shuttingDown } from './run-admission.service.js';

/** Time in which a freed place is left to the queue of background runs, in ms; a cluster's queue asks every 250 ms. */
const QUEUE_TURN_MS = 500;
/** Least suggested retry delay, in ms; up to as much again is added, so that clients do not return together. */
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;

/** Runs below which a busy event loop refuses none: few runs do not exhaust the memory. */
const FEW_RUNS = 32;
const SAMPLE_MS = 100;
/** Share of the time in which the event loop works, above which a further run only makes the others slower. */
const SATURATED = 0.98;
/** Samples in a row above the share. */
const SAMPLES = 5;

/** Detects an event loop without idle time. It samples only while more than a few runs execute. */
class LoopLoad {
  private timer: NodeJS.Timeout | undefined;
  private before = performance.eventLoopUtilization();
  private saturated = 0;

  /** @param onSample called after each sample */
  constructor(private readonly onSample: () => void) {}

  isOverloaded(runs: number): boolean {
    return runs >= FEW_RUNS && this.saturated >= SAMPLES;
  }

  /** Notes the number of executing runs. */
  watch(runs: number): void {
    if (runs >= FEW_RUNS) this.timer ??= setInterval(() => this.sample(), SAMPLE_MS).unref();
    else this.stop();
  }

  private stop(): void {
    if (!this.timer) return;
    clearInterval(this.timer);
    this.timer = undefined;
    this.saturated = 0;
  }

  private sample(): void {
    const { utilization } = performance.eventLoopUtilization(this.before);
    this.before = performance.eventLoopUtilization();
    this.saturated = utilization >= SATURATED ? this.saturated + 1 : 0;
    this.onSample();
  }
}

/** A run that occupies capacity. */
export type Occupant = Pick<RunRecord, 'tenant' | 'agent'> & { readonly id?: string };

/**
 * Limits concurrent runs: exact per process; per tenant and per agent across all processes. When several processes
 * start runs at the same moment, each may exceed a tenant's or an agent's limit by one.
 */
@Injectable()
export class RunCapacityRegistry implements OnModuleDestroy {
  private readonly limits: RunConfig;
  private readonly isShared: boolean;
  /** Running runs of this process: all, by tenant and by agent. */
  private readonly here = { all: 0, tenant: new Map<string, number>(), agent: new Map<string, number>() };

  private readonly wait: CapacityWait<Occupant>;
  private readonly closing = new AbortController();
  private readonly loop = new LoopLoad(() => this.grant());
  /** Whether a queued run found no capacity since the last one that started. */
  private isQueueWaiting = false;
  private wasQueueTurn = false;
  /** Set while a free place is left to queued runs. */
  private reservation: NodeJS.Timeout | undefined;

  /** Child runs that use their waiting parent's capacity: announced, and running. */
  private readonly exempted = new Set<string>();
  private readonly exemptRunning = new Set<string>();

  constructor(
    private readonly load: RunLoadStore,
    @Inject(runConfig.KEY) config: RunConfig,
    @Inject(databaseConfig.KEY) { isShared }: DatabaseConfig,
  ) {
    this.limits = config;
    this.isShared = isShared;
    this.wait = new CapacityWait(config.concurrency);
  }

  get isFull(): boolean {
    return this.here.all >= this.limits.concurrency || this.loop.isOverloaded(this.here.all);
  }

  /** Number of starts that wait for capacity. */
  get waiting(): number {
    return this.wait.length;
  }

  /** Ends the waits: a shutdown waits for the starts. */
  onModuleDestroy(): void {
    this.closing.abort();
  }

  /** Whether a new run must wait for capacity. */
  get isTaken(): boolean {
    return this.isFull || this.isReserved || this.wait.length > 0;
  }

  /** Notes that queued runs wait for capacity. */
  queueWaits(): void {
    this.isQueueWaiting = true;
  }

  /**
   * Refuses a start whose client would wait longer for capacity than `RUN_QUEUE_WAIT_MS`, or than its deadline.
   * @throws AppError `RUN_QUEUE_FULL`
   */
  checkWait(deadlineMs = Number.POSITIVE_INFINITY): void {
    if (!this.isTaken) return;
    const limitMs = Math.min(this.limits.queueWaitMs, deadlineMs);
    const { expectedMs } = this.wait;
    if (expectedMs > limitMs) throw this.overloaded(limitMs, expectedMs - limitMs);
  }

  /**
   * As `acquire`, for a new run whose client waits: it waits for its turn until its limit.
   * @returns false if the run must be queued, as its tenant or its agent has reached its limit
   * @throws AppError `RUN_QUEUE_FULL` when it has not got its turn
   */
  async acquireFor(run: Occupant, { deadlineMs, signal }: ClientWait): Promise<boolean> {
    if (!this.isTaken) return this.acquire(run);
    if (!this.fitsHere(run)) return false;
    this.checkWait(deadlineMs);
    const limitMs = Math.min(this.limits.queueWaitMs, deadlineMs ?? Number.POSITIVE_INFINITY);
    const ends = signal ? AbortSignal.any([signal, this.closing.signal]) : this.closing.signal;
    if (!(await this.wait.turn(run, limitMs, ends)))
      throw this.closing.signal.aborted ? shuttingDown() : this.overloaded(limitMs, 0);
    return this.isShared && this.isLimited ? this.releaseUnlessFits(run) : true;
  }

  /** Lets a run start whatever the load, within the capacity of its waiting parent. */
  exempt(runId: string): void {
    this.exempted.add(runId);
  }

  /** Withdraws `exempt` for a run that does not start. */
  revokeExemption(runId: string): void {
    this.exempted.delete(runId);
  }

  /** Reserves capacity for a run, if available; `release` frees it. */
  acquire(run: Occupant): boolean | Promise<boolean> {
    if (run.id !== undefined && this.exempted.delete(run.id)) {
      this.exemptRunning.add(run.id);
      return true;
    }
    if (this.isFull || !this.fitsHere(run)) {
      this.isQueueWaiting ||= this.isFull;
      return false;
    }
    this.isQueueWaiting = false;
    this.endReservation();
    this.change(run, 1);
    return this.isShared && this.isLimited ? this.releaseUnlessFits(run) : true;
  }

  release(run: Occupant): void {
    if (run.id !== undefined && this.exemptRunning.delete(run.id)) return;
    this.wait.ended();
    this.change(run, -1);
    this.grant();
  }

  /** Gives free places to the waiting starts; every second one is left to queued runs, if there are any. */
  private grant(): void {
    while (this.wait.length > 0 && !this.isReserved && !this.isFull) {
      if (this.isQueueWaiting && !this.wasQueueTurn) {
        this.wasQueueTurn = true;
        this.reservation = setTimeout(() => {
          this.isQueueWaiting = false;
          this.endReservation();
          // No queued run took the place.
          this.grant();
        }, QUEUE_TURN_MS).unref();
        return;
      }
      this.wasQueueTurn = false;
      const isAccepted = this.wait.acceptNext((run) => {
        if (!this.fitsHere(run)) return false;
        this.change(run, 1);
        return true;
      });
      if (!isAccepted) return;
    }
  }

  private get isReserved(): boolean {
    return this.reservation !== undefined;
  }

  private endReservation(): void {
    clearTimeout(this.reservation);
    this.reservation = undefined;
  }

  private get isLimited(): boolean {
    return this.limits.tenantConcurrency > 0 || this.limits.agentConcurrency > 0;
  }

  private overloaded(limitMs: number, moreMs: number): AppError {
    const message = `The server has no capacity for this request within ${limitMs} ms (RUN_QUEUE_WAIT_MS, or its deadline); retry later.`;
    // Before the rate is known the expected wait is infinite.
    const knownMs = Number.isFinite(moreMs) ? Math.min(moreMs, LONGEST_RETRY_MS) : 0;
    const retry_after_ms = Math.round(Math.max(knownMs, RETRY_MS) * (1 + Math.random()));
    return new AppError('RUN_QUEUE_FULL', message, { isRetryable: true, details: { retry_after_ms } });
  }

  private fitsHere({ tenant, agent }: Occupant): boolean {
    const { tenantConcurrency, agentConcurrency } = this.limits;
    return (
      isBelow(this.here.tenant.get(tenant) ?? 0, tenantConcurrency) &&
      isBelow(this.here.agent.get(agent) ?? 0, agentConcurrency)
    );
  }

  private async releaseUnlessFits(run: Occupant): Promise<boolean> {
    let fits = false;
    try {
      fits = await this.fitsEverywhere(run);
    } finally {
      if (!fits) this.release(run);
    }
    return fits;
  }

  private async fitsEverywhere({ tenant, agent }: Occupant): Promise<boolean> {
    const { tenantConcurrency, agentConcurrency } = this.limits;
    if (tenantConcurrency > 0 && (await this.load.running('tenant', tenant)) >= tenantConcurrency) return false;
    return agentConcurrency === 0 || (await this.load.running('agent', agent)) < agentConcurrency;
  }

  private change({ tenant, agent }: Occupant, by: 1 | -1): void {
    this.here.all += by;
    this.wait.noteCapacity(this.isFull);
    this.loop.watch(this.here.all);
    add(this.here.tenant, tenant, by);
    add(this.here.agent, agent, by);
  }
}

function isBelow(count: number, limit: number): boolean {
  return limit === 0 || count < limit;
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
