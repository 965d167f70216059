import { randomBytes } from 'node:crypto';
import { Log } from '../../errors/index.js';
import type { RunConfig } from '../../config/namespaces/index.js';
import { Database } from '../../persistence/index.js';
import { RunLease } from '../run-lease.js';

/** Heartbeats per lease. */
const BEATS_A_LEASE = 10;
/** Part of the lease for which a process is sure of its runs; other nodes see the heartbeat later. */
const SURE_PART = 0.8;
/** Leases after which a dead process is deleted. */
const FORGET_AFTER_LEASES = 30;

/** Marks, among the queues of a process, that it cannot enqueue runs at present. */
const CUT_OFF = '!';

interface NodeRow {
  readonly id: string;
  readonly beat: number;
  readonly serves: string;
}

interface SeenNode {
  readonly beat: number;
  /** On this process's own monotonic clock, ms; clocks of different processes are never compared. */
  readonly changedAt: number;
  readonly queues: readonly string[];
}

/**
 * The processes that share the database. Each writes a heartbeat ten times per lease. A process whose heartbeat did not
 * change for a whole lease, as seen by this process, is dead, and any node may claim its runs.
 */
export class NodeRegistry extends RunLease {
  /** Sorts by age; contains only characters of a channel's name. */
  readonly node = Date.now().toString(36).padStart(9, '0') + randomBytes(8).toString('hex');
  private readonly logger = new Log(NodeRegistry.name);
  private readonly leaseMs: number;
  private nodes = new Map<string, SeenNode>();
  private queues: readonly string[] = [];
  private beat = 0;
  /** Whether this process cannot enqueue runs at present. */
  isCutOff = false;
  private confirmedAt = -Infinity;
  private timer: NodeJS.Timeout | undefined;
  private pulsing: Promise<void> = Promise.resolve();
  private renewing: Promise<void> | null = null;
  private isStopped = false;

  constructor(
    private readonly database: Database,
    { cluster }: RunConfig,
  ) {
    super();
    this.leaseMs = cluster.leaseMs;
  }

  isSure(): boolean {
    return performance.now() - this.confirmedAt < this.leaseMs * SURE_PART;
  }

  /** Registers this process. @param queues the queues it serves */
  async start(queues: readonly string[]): Promise<void> {
    this.queues = queues;
    await this.pulse();
    this.schedule();
  }

  /**
   * Writes a heartbeat if the lease may have expired: other nodes would take a run started before for a dead process's.
   */
  async renew(): Promise<void> {
    if (this.isSure()) return;
    // One heartbeat for all callers that resume after a freeze.
    this.renewing ??= this.pulse().finally(() => (this.renewing = null));
    await this.renewing;
  }

  /** Deregisters this process, so that the others can claim its remaining runs at once. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.pulsing;
    if (this.beat === 0) return;
    await this.database
      .commit([{ sql: 'DELETE FROM run_node WHERE id = ?', params: [this.node] }])
      .catch((err: unknown) => {
        this.logger.warn({ err }, 'Failed to deregister this node; other nodes wait until its lease expires');
      });
  }

  /** The live processes known to this one, itself included; the oldest first. */
  live(): string[] {
    const now = performance.now();
    const living = [...this.nodes].filter(([id, { changedAt }]) => id === this.node || now - changedAt < this.leaseMs);
    return living.map(([id]) => id).toSorted();
  }

  /** Whether a process is alive; reads the table for an unknown one. */
  async isAlive(node: string): Promise<boolean> {
    if (this.live().includes(node)) return true;
    if (this.nodes.has(node)) return false;
    await this.refresh();
    return this.live().includes(node);
  }

  /** Whether this process does the sweep: the oldest that can enqueue, or the oldest if none can. */
  isSweeper(): boolean {
    const live = this.live();
    const able = live.filter((id) =>
      id === this.node ? !this.isCutOff : !this.nodes.get(id)?.queues.includes(CUT_OFF),
    );
    return (able[0] ?? live[0]) === this.node;
  }

  /** Whether a live process serves the queue. */
  isServed(queue: string): boolean {
    return this.live().some((id) => this.nodes.get(id)?.queues.includes(queue));
  }

  /** Whether a live process of another release, which does not serve all these queues, is known. */
  hasOtherRelease(queues: readonly string[]): boolean {
    return this.live().some((id) => {
      const served = this.nodes.get(id)?.queues;
      return served !== undefined && queues.some((queue) => !served.includes(queue));
    });
  }

  /** Reads the registered processes. */
  async refresh(): Promise<void> {
    const rows = await this.database.query<NodeRow>('SELECT id, beat, serves FROM run_node');
    const now = performance.now();
    this.nodes = new Map(rows.map((row) => [row.id, this.see(row, now)]));
    const forgotten = rows.filter(({ id }) => now - this.nodes.get(id)!.changedAt > FORGET_AFTER_LEASES * this.leaseMs);
    if (forgotten.length === 0) return;
    await this.database.commit(
      forgotten.map(({ id, beat }) => ({ sql: 'DELETE FROM run_node WHERE id = ? AND beat = ?', params: [id, beat] })),
    );
  }

  private see({ id, beat, serves }: NodeRow, now: number): SeenNode {
    const before = this.nodes.get(id);
    return before?.beat === beat ? before : { beat, changedAt: now, queues: serves.split(',') };
  }

  private schedule(): void {
    if (this.isStopped) return;
    this.timer = setTimeout(() => {
      this.pulsing = this.pulse()
        .catch((err: unknown) => this.logger.warn({ err }, 'Failed to write the heartbeat of this node'))
        .finally(() => this.schedule());
    }, this.leaseMs / BEATS_A_LEASE);
    this.timer.unref();
  }

  private async pulse(): Promise<void> {
    const from = performance.now();
    const row = {
      id: this.node,
      beat: ++this.beat,
      serves: [...this.queues, ...(this.isCutOff ? [CUT_OFF] : [])].join(','),
    };
    await this.database.commit([this.database.upsert('run_node', [row], ['id'])]);
    this.confirmedAt = from;
    await this.refresh();
  }
}
