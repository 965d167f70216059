import { Injectable } from '@nestjs/common';
import { AppConfig } from '../../config/index.js';
import type { RunRecord } from '../run.types.js';
import { RunLoadStore } from './run-load.store.js';

/** Whose room a run takes. */
export type Occupant = Pick<RunRecord, 'tenant' | 'agent'> & { readonly id?: string };

/**
 * How many runs go on: in this process exactly, of a tenant and of an agent in all processes together. Where several
 * processes begin runs in the same moment, a tenant or an agent can have one more each of them.
 */
@Injectable()
export class RunCapacityRegistry {
  private readonly limits: AppConfig['run'];
  private readonly isShared: boolean;
  /** What goes on in this process, by the kind of its occupant and its name. */
  private readonly here = { all: 0, tenant: new Map<string, number>(), agent: new Map<string, number>() };

  /** Runs that take no room, since the run that waits for them has it; and those of them that go on. */
  private readonly invited = new Set<string>();
  private readonly guests = new Set<string>();

  constructor(
    private readonly load: RunLoadStore,
    config: AppConfig,
  ) {
    this.limits = config.run;
    this.isShared = config.cluster.isEnabled;
  }

  get isFull(): boolean {
    return this.here.all >= this.limits.concurrency;
  }

  /** Lets a run in when it comes, whatever goes on: it goes on in the room of another one. */
  invite(runId: string): void {
    this.invited.add(runId);
  }

  /** It does not come. */
  disinvite(runId: string): void {
    this.invited.delete(runId);
  }

  /** Takes room for a run, if there is some; give it back with `leave`. */
  enter(run: Occupant): boolean | Promise<boolean> {
    if (run.id !== undefined && this.invited.delete(run.id)) {
      this.guests.add(run.id);
      return true;
    }
    if (this.isFull || !this.fitsHere(run)) return false;
    this.change(run, 1);
    const isLimited = this.limits.tenantConcurrency > 0 || this.limits.agentConcurrency > 0;
    return this.isShared && isLimited ? this.orLeave(run) : true;
  }

  leave(run: Occupant): void {
    if (run.id !== undefined && this.guests.delete(run.id)) return;
    this.change(run, -1);
  }

  private fitsHere({ tenant, agent }: Occupant): boolean {
    const { tenantConcurrency, agentConcurrency } = this.limits;
    return (
      isBelow(this.here.tenant.get(tenant) ?? 0, tenantConcurrency) &&
      isBelow(this.here.agent.get(agent) ?? 0, agentConcurrency)
    );
  }

  private async orLeave(run: Occupant): Promise<boolean> {
    let fits = false;
    try {
      fits = await this.fitsEverywhere(run);
    } finally {
      if (!fits) this.leave(run);
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
