import type { DatabaseConfig, RunConfig } from '../../config/namespaces/index.js';
import type { Database } from '../../persistence/index.js';
import { RunAdmissionService } from '../admission/run-admission.service.js';
import { RunCapacityRegistry } from '../admission/run-capacity.registry.js';
import { RunBus } from '../follow/run-bus.js';
import { RunHandlerRegistry } from '../run-handler.registry.js';
import { RunJournal } from '../run-journal.js';
import { RunExecutor } from '../run.executor.js';
import { AwaitedRunRegistry } from './awaited-run.registry.js';
import { checkRedis, requireBull } from './bull-backend.factory.js';
import { BullRunDispatcher } from './bull-run-dispatcher.js';
import { BullRunQueue } from './bull-run-queue.js';
import { ClusterService } from './cluster.service.js';
import { NodeRegistry } from './node.registry.js';
import { OpenRunStore } from './open-run.store.js';
import { RunOfferService } from './run-offer.service.js';
import { RunQueue, type TakeRun } from './run-queue.js';
import { queueOf, type RunRef } from './run-ref.types.js';
import { RunSweepService } from './run-sweep.service.js';
import { RunTakeService } from './run-take.service.js';
import { SuspectRunService } from './suspect-run.service.js';

/** Delay before this process tries a run again for which it had no capacity, in ms. */
const FULL_RETRY_MS = 250;

/**
 * The queue of a process that ends when it is idle: it is no worker of the cluster, executes the runs that it enqueues,
 * and has no connection to a queue. Runs that it leaves are found by the sweep of another process.
 */
class OwnRunQueue extends RunQueue {
  private readonly pending = new Map<string, RunRef>();
  private readonly names = new Set<string>();
  private take: TakeRun | null = null;

  override async start(names: readonly string[], earlier: readonly string[], take: TakeRun): Promise<void> {
    for (const name of [...names, ...earlier]) this.names.add(name);
    this.take = take;
    for (const run of this.pending.values()) this.takeSoon(run);
  }

  override async startEarlier(): Promise<void> {}

  override async add(runs: readonly RunRef[]): Promise<void> {
    for (const run of runs) {
      if (this.pending.has(run.id)) continue;
      this.pending.set(run.id, run);
      this.takeSoon(run);
    }
  }

  override async answers(): Promise<boolean> {
    return true;
  }

  override async pause(): Promise<void> {
    this.take = null;
  }

  override async close(): Promise<void> {
    await this.pause();
  }

  private takeSoon(run: RunRef): void {
    setImmediate(() => void this.takeNow(run));
  }

  private async takeNow(run: RunRef): Promise<void> {
    const { take } = this;
    if (!take || !this.pending.delete(run.id) || !this.names.has(queueOf(run))) return;
    // A sweep finds a run whose journal is unavailable.
    const outcome = await take(run.id).catch(() => 'done');
    if (outcome === 'full') setTimeout(() => void this.add([run]), FULL_RETRY_MS).unref();
  }
}

/** The dependencies of the dispatcher in a cluster. */
export interface ClusterParts {
  readonly config: RunConfig;
  readonly place: DatabaseConfig;
  readonly database: Database;
  readonly journal: RunJournal;
  readonly executor: RunExecutor;
  readonly bus: RunBus;
  readonly nodes: NodeRegistry;
  readonly handlers: RunHandlerRegistry;
  readonly admission: RunAdmissionService;
  readonly capacity: RunCapacityRegistry;
}

export async function createBullRunDispatcher(parts: ClusterParts): Promise<BullRunDispatcher> {
  // A missing package stops the start: connecting to the queue is retried for ever.
  await requireBull();
  if (parts.place.redisUrl !== undefined) await checkRedis(parts.place.redisUrl);
  const { config, place, database, journal, executor, bus, nodes, handlers, admission, capacity } = parts;
  const open = new OpenRunStore(database);
  const queue = place.keepsProcess ? new BullRunQueue(config, place, database) : new OwnRunQueue();
  const awaited = new AwaitedRunRegistry(bus);
  const offers = new RunOfferService(queue, nodes);
  const suspects = new SuspectRunService(journal, bus, open, config);
  const sweep = new RunSweepService(open, nodes, offers, handlers, suspects, config);
  const cluster = new ClusterService(nodes, queue, sweep, offers, handlers, config);
  const taker = new RunTakeService(journal, executor, bus, nodes, awaited, { admission, capacity, suspects });
  return new BullRunDispatcher(journal, bus, cluster, taker, open, awaited);
}
