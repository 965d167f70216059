import { Logger } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { AppConfig } from '../../config/index.js';
import { Database } from '../../persistence/index.js';
import { RunLease } from '../run-lease.js';

/** Beats in the time after which a silent process counts as dead. */
const BEATS_A_LEASE = 10;
/** A process is sure of its runs for this part of the lease only: the others' clocks began a moment later. */
const SURE_PART = 0.8;
/** A dead process is forgotten after so many leases. */
const FORGET_AFTER_LEASES = 30;

interface NodeRow {
  readonly id: string;
  readonly beat: number;
  readonly serves: string;
}

interface SeenNode {
  readonly beat: number;
  /** On this process's own monotonic clock, ms: nobody's clocks are compared. */
  readonly changedAt: number;
  readonly queues: readonly string[];
}

/**
 * The processes that share the database. Each raises its beat ten times a lease; one whose beat has stood still for a
 * whole lease, as this process saw it, is dead, and its runs are anybody's.
 */
export class NodeRegistry extends RunLease {
  /** Sorts by age; of characters that a channel's name may have. */
  readonly node = Date.now().toString(36).padStart(9, '0') + randomBytes(8).toString('hex');
  private readonly logger = new Logger(NodeRegistry.name);
  private readonly leaseMs: number;
  private nodes = new Map<string, SeenNode>();
  private queues: readonly string[] = [];
  private beat = 0;
  private confirmedAt = -Infinity;
  private timer: NodeJS.Timeout | undefined;
  private pulsing: Promise<void> = Promise.resolve();
  private renewing: Promise<void> | null = null;
  private isStopped = false;

  constructor(
    private readonly database: Database,
    config: AppConfig,
  ) {
    super();
    this.leaseMs = config.cluster.leaseMs;
  }

  isSure(): boolean {
    return performance.now() - this.confirmedAt < this.leaseMs * SURE_PART;
  }

  /** Becomes one of the processes. @param queues what this one serves */
  async start(queues: readonly string[]): Promise<void> {
    this.queues = queues;
    await this.pulse();
    this.schedule();
  }

  /** Says that it lives when the others may take it for dead: what it begins before would be taken for a dead one's. */
  async renew(): Promise<void> {
    if (this.isSure()) return;
    // All that came while it was frozen is there at once.
    this.renewing ??= this.pulse().finally(() => (this.renewing = null));
    await this.renewing;
  }

  /** Leaves: the others see at once that what is left of this one is anybody's. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.pulsing;
    if (this.beat === 0) return;
    await this.database
      .commit([{ sql: 'DELETE FROM run_node WHERE id = ?', params: [this.node] }])
      .catch((err: unknown) => {
        this.logger.warn({ err }, 'This node could not sign off; the others wait until its lease is over');
      });
  }

  /** The processes that live as far as this one knows, this one included; the oldest first. */
  live(): string[] {
    const now = performance.now();
    const living = [...this.nodes].filter(([id, { changedAt }]) => id === this.node || now - changedAt < this.leaseMs);
    return living.map(([id]) => id).toSorted();
  }

  /** Whether a process lives; of one that is not known it is read whether it has come. */
  async isAlive(node: string): Promise<boolean> {
    if (this.live().includes(node)) return true;
    if (this.nodes.has(node)) return false;
    await this.refresh();
    return this.live().includes(node);
  }

  /** Whether this process is the one that does what only one has to do. */
  isOldest(): boolean {
    return this.live()[0] === this.node;
  }

  /** Whether some living process serves the queue. */
  isServed(queue: string): boolean {
    return this.live().some((id) => this.nodes.get(id)?.queues.includes(queue));
  }

  /** Reads who is there now. */
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
        .catch((err: unknown) => this.logger.warn({ err }, 'This node could not say that it lives'))
        .finally(() => this.schedule());
    }, this.leaseMs / BEATS_A_LEASE);
    this.timer.unref();
  }

  private async pulse(): Promise<void> {
    const from = performance.now();
    const row = { id: this.node, beat: ++this.beat, serves: this.queues.join(',') };
    await this.database.commit([this.database.upsert('run_node', [row], ['id'])]);
    this.confirmedAt = from;
    await this.refresh();
  }
}
