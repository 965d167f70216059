import { setTimeout } from 'node:timers/promises';
import { Log } from '../../errors/index.js';
import { isDoneWithin } from '../../kernel/index.js';
import type { RunConfig } from '../../config/index.js';
import { RunHandlerRegistry } from '../run-handler.registry.js';
import { RunQueue, type TakeRun } from './run-queue.js';
import { NodeRegistry } from './node.registry.js';
import { queueOf, type RunRef } from './run-ref.types.js';
import { RunSweepService } from './run-sweep.service.js';

/** Maximum wait of a leaving process for the end of its own start, in ms. */
const START_MS = 2_000;

/** The membership of this process in the cluster: join, serve and leave, in this order. */
export class ClusterService {
  private readonly logger = new Log(ClusterService.name);
  private joined: Promise<void> | undefined;
  private readonly leaving = new AbortController();
  private serving: Promise<void> = Promise.resolve();

  constructor(
    private readonly nodes: NodeRegistry,
    private readonly queue: RunQueue,
    private readonly sweep: RunSweepService,
    private readonly handlers: RunHandlerRegistry,
    private readonly config: RunConfig,
  ) {}

  /**
   * Registers this process, again after it was frozen. It must not execute runs before: other nodes would take them for
   * runs of a dead process.
   */
  async join(): Promise<void> {
    this.joined ??= this.nodes.start(this.served()).catch((error: unknown) => {
      this.joined = undefined;
      throw error;
    });
    await this.joined;
    await this.nodes.renew();
  }

  /** Takes runs from the queue, and sweeps for runs that the queue has lost. */
  serve(take: TakeRun, alsoInEverySweep: () => Promise<void>): Promise<void> {
    this.serving = this.startServing(take, alsoInEverySweep);
    return this.serving;
  }

  private async startServing(take: TakeRun, alsoInEverySweep: () => Promise<void>): Promise<void> {
    await this.untilDone('Joining the other processes', () => this.join());
    if (this.isLeaving) return;
    const [current, earlier] = this.queues();
    this.sweep.start(take, async () => {
      await alsoInEverySweep();
      if (this.nodes.hasOtherRelease(current)) await this.queue.startEarlier();
    });
    await this.untilDone('Taking runs from the queue', () => this.queue.start(current, earlier, take));
  }

  /** Whether this process can replay the run. */
  serves(run: RunRef): boolean {
    return this.served().includes(queueOf(run));
  }

  /** Enqueues runs; a sweep finds those that cannot be enqueued now. */
  async offer(runs: readonly RunRef[]): Promise<void> {
    try {
      await this.queue.add(runs);
    } catch (err) {
      this.logger.warn({ err }, `Failed to enqueue ${runs.length} runs; they are enqueued when the queue is available`);
    }
  }

  /** @param drain waits for active runs up to the timeout, then hands them over */
  async leave(drain: (timeoutMs: number) => Promise<void>): Promise<void> {
    this.leaving.abort();
    await this.sweep.stop();
    // A pending join must not query a closed database. The wait has a limit, since Redis may not respond.
    await isDoneWithin(START_MS, this.serving);
    await this.queue.pause();
    await drain(this.config.shutdownTimeoutMs);
    await this.nodes.stop();
    await this.queue.close();
  }

  /**
   * Retries until success: a database or a Redis that is unavailable at start must not stop the node from serving
   * later.
   */
  private async untilDone(what: string, work: () => Promise<void>): Promise<void> {
    while (!this.isLeaving) {
      try {
        return await work();
      } catch (err) {
        if (this.isLeaving) return;
        this.logger.warn({ err }, `${what} failed; retrying`);
        const pause = { ref: false, signal: this.leaving.signal };
        await setTimeout(this.config.cluster.checkMs, undefined, pause).catch(() => undefined);
      }
    }
  }

  private get isLeaving(): boolean {
    return this.leaving.signal.aborted;
  }

  /** The queues of the current loop versions, then those of earlier ones, which only runs of an earlier deploy have. */
  private queues(): [string[], string[]] {
    const isCurrent = new Set(
      this.handlers.all().map(({ kind, loopVersions }) => queueOf({ kind, loopVersion: loopVersions.at(-1)! })),
    );
    const served = this.served();
    return [served.filter((name) => isCurrent.has(name)), served.filter((name) => !isCurrent.has(name))];
  }

  private served(): string[] {
    return this.handlers.all().flatMap(({ kind, loopVersions }) => {
      return loopVersions.map((loopVersion) => queueOf({ kind, loopVersion }));
    });
  }
}
