import type { DelayedError, Processor, Queue, Worker, WorkerOptions } from 'bullmq';
import type { DatabaseConfig, RunConfig } from '../../config/index.js';
import { exportsOf, loadPackage, Log } from '../../errors/index.js';
import { loadPostgresClient, type Database } from '../../persistence/index.js';
import { applicationName } from '../application-name.mapper.js';

/** The schema of BullMQ's own tables in the journal's PostgreSQL; the schema of the journal follows. */
const SCHEMA = 'jackdaw_queue_';
/** Connections to PostgreSQL of a queue, and of a worker, which has another one that listens. */
const QUEUE_CONNECTIONS = 1;
const WORKER_CONNECTIONS = 2;
/** A smaller pool for statements shows that connections are scarce: each worker then has one. */
const AMPLE_POOL = 10;

/** PostgreSQL's code of a missing right. */
const NO_RIGHT = '42501';
const logger = new Log('RunQueue');

/** Creates queues and workers on one BullMQ backend. */
export interface BullBackend {
  /** Resolves when the queue is connected, on a backend that does not reconnect by itself. */
  queue(name: string): Promise<Queue>;
  /** The error of a processor that has returned its job to the queue. */
  readonly DelayedError: new () => DelayedError;
  worker(name: string, processor: Processor, options: Omit<WorkerOptions, 'connection'>): Promise<Worker>;
}

/** Fails with `CONFIG_INVALID` if BullMQ is not installed. */
export async function requireBull(): Promise<void> {
  await loadBull();
}

function loadBull() {
  return loadPackage('bullmq', 'A cluster', () => import('bullmq').then(exportsOf));
}

/** Redis if configured, else the journal's PostgreSQL. BullMQ is imported only here. */
export async function openBackend(
  config: DatabaseConfig,
  place: Database['place'],
  { leaseMs }: RunConfig['cluster'],
): Promise<BullBackend> {
  const { redisUrl } = config;
  return redisUrl === undefined
    ? openPostgres(place!, leaseMs, config.poolSize)
    : openRedis(applicationName(config, place), redisUrl);
}

async function openRedis(application: string, url: string): Promise<BullBackend> {
  const bull = await loadBull();
  const prefix = `jackdaw-${application}`;
  return {
    DelayedError: bull.DelayedError,
    // Fail fast: a job that cannot be added is added again from the journal.
    queue: async (name) => new bull.Queue(name, { connection: { url, maxRetriesPerRequest: 1 }, prefix }),
    worker: async (name, processor, options) =>
      new bull.Worker(name, processor, { ...options, connection: { url, maxRetriesPerRequest: null }, prefix }),
  };
}

async function openPostgres(
  place: NonNullable<Database['place']>,
  leaseMs: number,
  poolSize: number,
): Promise<BullBackend> {
  const [bull, Client] = await Promise.all([loadBull(), loadPostgresClient()]);
  const { Queue, Worker } = bull.withBackend(bull.createPostgresBackend);
  const connection = {
    ...place.connection,
    schema: `${SCHEMA}${place.key}`,
    max: QUEUE_CONNECTIONS,
    // BullMQ's transactions take several round trips: a process frozen in one holds its locks for one lease at most.
    idle_in_transaction_session_timeout: leaseMs,
    Client,
  };
  // Workers without the schema spin on an error, so create it first; BullMQ admits one process at a time.
  const setup = new Queue('setup', { connection: { ...connection, migrate: true } });
  setup.on('error', () => undefined);
  try {
    await setup.waitUntilReady();
  } catch (error) {
    // Without the right to create schemas, an existing one works.
    if ((error as { code?: unknown }).code !== NO_RIGHT) throw error;
    logger.warn(
      `The user of the database may not create the schema ${connection.schema} of the run queue, or update its tables: grant CREATE on the database`,
    );
  } finally {
    await setup.close();
  }
  return {
    DelayedError: bull.DelayedError,
    queue: async (name) => {
      const queue = new Queue(name, { connection }) as unknown as Queue;
      await connected(queue as Connectable);
      return queue;
    },
    worker: async (name, processor, options) => {
      const worker = new Worker(name, processor, {
        ...options,
        connection: { ...connection, max: poolSize < AMPLE_POOL ? 1 : WORKER_CONNECTIONS },
        autorun: false,
      }) as unknown as Worker;
      await connected(worker as Connectable);
      worker.run().catch((error: Error) => worker.emit('error', error));
      return worker;
    },
  };
}

/** The connection methods of a queue or a worker. */
interface Connectable {
  on(event: 'error', listener: () => void): unknown;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * BullMQ connects to PostgreSQL once and caches the outcome. After a failure every call fails at once, for ever, and a
 * worker retries in a loop without a pause, which starves the process. So the queue or worker is closed, to be created
 * again.
 */
async function connected(made: Connectable): Promise<void> {
  made.on('error', ignore);
  try {
    await made.waitUntilReady();
  } catch (error) {
    await made.close().catch(ignore);
    throw error;
  }
}

function ignore(): void {
  // The caller that awaits the connection gets the error.
}
