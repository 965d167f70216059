import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { databaseConfig, type DatabaseConfig, runConfig, type RunConfig } from '../../config/index.js';
import { AppError } from '../../errors/index.js';
import type { RunRecord } from '../run.types.js';
import { RunLoadStore } from './run-load.store.js';

/** Suggested retry delay, in ms; another or the next process then answers. */
const RETRY_MS = 1_000;

/** Admits new runs. At a shutdown it rejects new runs and waits for the admitted ones. */
@Injectable()
export class RunAdmissionService implements OnModuleDestroy {
  private closing = false;
  /** Admitted runs that are being journaled or claimed. */
  private readonly admitted = new Set<Promise<unknown>>();

  get isClosing(): boolean {
    return this.closing;
  }

  onModuleDestroy(): void {
    this.closing = true;
  }

  /** @throws AppError `SHUTTING_DOWN` */
  async admit<T>(begin: () => Promise<T>): Promise<T> {
    if (this.closing) {
      throw new AppError('SHUTTING_DOWN', 'The server is shutting down and accepts no new runs; retry in a moment.', {
        isRetryable: true,
        details: { retry_after_ms: RETRY_MS },
      });
    }
    return this.track(begin());
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
    this.closing = true;
    while (this.admitted.size > 0) await Promise.allSettled(this.admitted);
  }
}

/** A run that occupies capacity. */
export type Occupant = Pick<RunRecord, 'tenant' | 'agent'> & { readonly id?: string };

/**
 * Limits concurrent runs: exact per process; per tenant and per agent across all processes. When several processes
 * start runs at the same moment, each may exceed a tenant's or an agent's limit by one.
 */
@Injectable()
export class RunCapacityRegistry {
  private readonly limits: RunConfig;
  private readonly isShared: boolean;
  /** Running runs of this process: all, by tenant and by agent. */
  private readonly here = { all: 0, tenant: new Map<string, number>(), agent: new Map<string, number>() };

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
  }

  get isFull(): boolean {
    return this.here.all >= this.limits.concurrency;
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
    if (this.isFull || !this.fitsHere(run)) return false;
    this.change(run, 1);
    const isLimited = this.limits.tenantConcurrency > 0 || this.limits.agentConcurrency > 0;
    return this.isShared && isLimited ? this.releaseUnlessFits(run) : true;
  }

  release(run: Occupant): void {
    if (run.id !== undefined && this.exemptRunning.delete(run.id)) return;
    this.change(run, -1);
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
