import { setTimeout } from 'node:timers/promises';
import { Log, messageOf } from '../../errors/index.js';
import { isDoneWithin } from '../../kernel/index.js';
import type { RunConfig } from '../../config/namespaces/index.js';
import { RunHandlerRegistry } from '../run-handler.registry.js';
import { RunOfferService } from './run-offer.service.js';
import { RunQueue, type TakeRun } from './run-queue.js';
import { NodeRegistry } from './node.registry.js';
import { queueOf, type RunRef } from './run-ref.types.js';
import { RunSweepService } from './run-sweep.service.js';

/** Maximum wait of a leaving process for the end of its own start, in ms. */
const START_MS = 2_000;
/** Time of a leave beside that of the drain, in ms; the limit of a server's or an agent's stop ends before it. */
const LEAVE_MS = 2_500;

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
    private readonly offers: RunOfferService,
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
    this.offers.start(take, (run) => this.serves(run));
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

  /** Enqueues runs, or executes them here while the queue is unavailable. */
  async offer(runs: readonly RunRef[]): Promise<void> {
    await this.offers.offer(runs);
  }

  /** @param drain waits for active runs up to the timeout, then hands them over */
  async leave(drain: (timeoutMs: number) => Promise<void>): Promise<void> {
    const left = this.leaveWhenDrained(drain);
    if (await isDoneWithin(this.config.shutdownTimeoutMs + LEAVE_MS, left)) return left;
    this.logger.warn('The database or the queue did not answer during the stop; its connections are abandoned');
    left.catch(() => undefined);
  }

  private async leaveWhenDrained(drain: (timeoutMs: number) => Promise<void>): Promise<void> {
    this.leaving.abort();
    this.offers.stop();
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
   * later. Only the first failure is a warning.
   */
  private async untilDone(what: string, work: () => Promise<void>): Promise<void> {
    for (let attempt = 1; !this.isLeaving; attempt++) {
      try {
        return await work();
      } catch (err) {
        if (this.isLeaving) return;
        if (attempt === 1) this.logger.warn({ cause: messageOf(err) }, `${what} failed; retrying`);
        this.logger.debug({ err, attempt }, `${what} failed; retrying`);
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
