import type { DatabaseConfig, RunConfig } from '../../config/index.js';
import type { Database } from '../../persistence/index.js';
import { RunCapacityRegistry } from '../admission/run-capacity.registry.js';
import { RunAdmissionService } from '../run-admission.service.js';
import { RunBus } from '../run-bus.js';
import { RunExecutor } from '../run.executor.js';
import { RunHandlerRegistry } from '../run-handler.registry.js';
import { RunJournal } from '../run-journal.js';
import { AwaitedRunRegistry } from './awaited-run.registry.js';
import { requireBull } from './bull-backend.factory.js';
import { BullRunDispatcher } from './bull-run-dispatcher.js';
import { BullRunQueue } from './bull-run-queue.js';
import { ClusterService } from './cluster.service.js';
import { NodeRegistry } from './node.registry.js';
import { OpenRunStore } from './open-run.store.js';
import { OwnRunQueue } from './own-run-queue.js';
import { RunSweepService } from './run-sweep.service.js';
import { RunTakeService } from './run-take.service.js';

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
  const { config, place, database, journal, executor, bus, nodes, handlers, admission, capacity } = parts;
  const open = new OpenRunStore(database);
  const queue = place.keepsProcess ? new BullRunQueue(config, place, database.place) : new OwnRunQueue();
  const awaited = new AwaitedRunRegistry(bus);
  const sweep = new RunSweepService(open, nodes, queue, handlers, config);
  const cluster = new ClusterService(nodes, queue, sweep, handlers, config);
  const taker = new RunTakeService(journal, executor, bus, nodes, awaited, { admission, capacity });
  return new BullRunDispatcher(journal, bus, cluster, taker, open, awaited);
}
