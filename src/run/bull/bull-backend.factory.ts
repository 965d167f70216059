import type { DelayedError, Processor, Queue, Worker, WorkerOptions } from 'bullmq';
import type { AppConfig } from '../../config/index.js';
import { loadPostgresClient } from '../../persistence/index.js';
import { applicationName } from '../application-name.mapper.js';

/** The schema of BullMQ's own tables in the journal's PostgreSQL. */
const SCHEMA = 'jackdaw_queue';
/** Connections to PostgreSQL for each queue and each worker. */
const CONNECTIONS = 2;

/** Makes queues and workers on the one place where they are kept. */
export interface BullBackend {
  /** Resolves when it is connected, where that would not be tried again. */
  queue(name: string): Promise<Queue>;
  /** What a processor throws when it has put its job back. */
  readonly DelayedError: new () => DelayedError;
  worker(name: string, processor: Processor, options: Omit<WorkerOptions, 'connection'>): Promise<Worker>;
}

/** Redis when it is configured, else the journal's PostgreSQL. BullMQ is loaded only now. */
export async function openBackend(config: AppConfig): Promise<BullBackend> {
  const { url } = config.redis;
  return url === undefined ? openPostgres(config) : openRedis(config, url);
}

async function openRedis(config: AppConfig, url: string): Promise<BullBackend> {
  const bull = await import('bullmq');
  const prefix = `jackdaw-${applicationName(config)}`;
  return {
    DelayedError: bull.DelayedError,
    // A job that cannot be added soon is added again from the journal: nobody waits for Redis.
    queue: async (name) => new bull.Queue(name, { connection: { url, maxRetriesPerRequest: 1 }, prefix }),
    worker: async (name, processor, options) =>
      new bull.Worker(name, processor, { ...options, connection: { url, maxRetriesPerRequest: null }, prefix }),
  };
}

async function openPostgres(config: AppConfig): Promise<BullBackend> {
  const [bull, Client] = await Promise.all([import('bullmq'), loadPostgresClient()]);
  const { Queue, Worker } = bull.withBackend(bull.createPostgresBackend);
  const connection = {
    connectionString: config.database.url!,
    schema: SCHEMA,
    max: CONNECTIONS,
    // BullMQ's transactions take several round trips: a process that freezes in one keeps its locks no longer than its runs.
    idle_in_transaction_session_timeout: config.cluster.leaseMs,
    Client,
  };
  // Workers on a schema that is not there spin on an error, so it is made first; BullMQ lets one process at a time.
  const maker = new Queue('setup', { connection: { ...connection, migrate: true } });
  maker.on('error', () => undefined);
  try {
    await maker.waitUntilReady();
  } finally {
    await maker.close();
  }
  return {
    DelayedError: bull.DelayedError,
    queue: async (name) => {
      const queue = new Queue(name, { connection }) as unknown as Queue;
      await connected(queue as Connectable);
      return queue;
    },
    worker: async (name, processor, options) => {
      const worker = new Worker(name, processor, { ...options, connection, autorun: false }) as unknown as Worker;
      await connected(worker as Connectable);
      worker.run().catch((error: Error) => worker.emit('error', error));
      return worker;
    },
  };
}

/** A queue or a worker, as far as it connects. */
interface Connectable {
  on(event: 'error', listener: () => void): unknown;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * BullMQ connects to PostgreSQL once and keeps what came of it: after a failure every call fails at once, for ever, and a
 * worker asks again without a pause, so that nothing else in the process gets its turn. Then it is made anew instead.
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
  // Whoever waits for the connection is told.
}
