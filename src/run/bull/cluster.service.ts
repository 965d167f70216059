import { setTimeout } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { isDoneWithin } from '../../common/index.js';
import { AppConfig } from '../../config/index.js';
import { RunHandlerRegistry } from '../run-handler.registry.js';
import { BullRunQueue, type TakeRun } from './bull-run-queue.js';
import { NodeRegistry } from './node.registry.js';
import { queueOf, type RunRef } from './run-ref.types.js';
import { RunSweepService } from './run-sweep.service.js';

/** Maximum wait of a leaving process for the end of its own start, in ms. */
const START_MS = 2_000;

/** This process's place among those that share the database: it joins, serves, and leaves, in the right order. */
export class ClusterService {
  private readonly logger = new Logger(ClusterService.name);
  private joined: Promise<void> | undefined;
  private readonly leaving = new AbortController();
  private serving: Promise<void> = Promise.resolve();

  constructor(
    private readonly nodes: NodeRegistry,
    private readonly queue: BullRunQueue,
    private readonly sweep: RunSweepService,
    private readonly handlers: RunHandlerRegistry,
    private readonly config: AppConfig,
  ) {}

  /**
   * Makes this process known to the others, again after it was frozen: only then may it run anything, or they would take
   * it for a dead one's.
   */
  async join(): Promise<void> {
    this.joined ??= this.nodes.start(this.served()).catch((error: unknown) => {
      this.joined = undefined;
      throw error;
    });
    await this.joined;
    await this.nodes.renew();
  }

  /** Takes runs from the queue, and looks for those that are in none. */
  serve(take: TakeRun, alsoInEverySweep: () => Promise<void>): Promise<void> {
    this.serving = this.startServing(take, alsoInEverySweep);
    return this.serving;
  }

  private async startServing(take: TakeRun, alsoInEverySweep: () => Promise<void>): Promise<void> {
    await this.untilDone('Joining the other processes', () => this.join());
    if (this.isLeaving) return;
    this.sweep.start(take, alsoInEverySweep);
    await this.untilDone('Taking runs from the queue', () => this.queue.start(this.served(), take));
  }

  /** Whether this process can replay the run. */
  serves(run: RunRef): boolean {
    return this.served().includes(queueOf(run));
  }

  /** Puts runs into the queue; what cannot be put there now is found by a sweep. */
  async offer(runs: readonly RunRef[]): Promise<void> {
    try {
      await this.queue.add(runs);
    } catch (err) {
      this.logger.warn({ err }, `${runs.length} runs cannot be queued now; they are as soon as the queue answers`);
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

  /** A database or a Redis that is away at the start is no reason to serve nothing afterwards. */
  private async untilDone(what: string, work: () => Promise<void>): Promise<void> {
    while (!this.isLeaving) {
      try {
        return await work();
      } catch (err) {
        if (this.isLeaving) return;
        this.logger.warn({ err }, `${what} failed; it is tried again`);
        const pause = { ref: false, signal: this.leaving.signal };
        await setTimeout(this.config.cluster.checkMs, undefined, pause).catch(() => undefined);
      }
    }
  }

  private get isLeaving(): boolean {
    return this.leaving.signal.aborted;
  }

  private served(): string[] {
    return this.handlers.all().flatMap(({ kind, loopVersions }) => {
      return loopVersions.map((loopVersion) => queueOf({ kind, loopVersion }));
    });
  }
}
