import type { Job, JobsOptions, Queue, Worker } from 'bullmq';
import { MAX_PRIORITY } from '../admission/priority.policy.js';
import { AppError } from '../../errors/index.js';
import { isDoneWithin } from '../../kernel/index.js';
import type { DatabaseConfig, RunConfig } from '../../config/namespaces/index.js';
import { isStorageUnavailable, type Database } from '../../persistence/index.js';
import { openBackend } from './bull-backend.factory.js';
import type { BullBackend } from './bull-backend.types.js';
import { RunQueue, type TakeRun } from './run-queue.js';
import { queueOf, type RunRef } from './run-ref.types.js';

/** No limit for stalled jobs: the journal limits the retries of a run. */
const UNLIMITED = 1_000_000;
const JOB: JobsOptions = { removeOnComplete: true, removeOnFail: true };
/** Time for the backend to answer at shutdown, in ms. */
const ANSWER_MS = 1000;
/** Delay before a node tries a run again for which there was no capacity, in ms. */
const FULL_RETRY_MS = 250;

/**
 * BullMQ, on the journal's PostgreSQL or on Redis: passes the ids of runs to start to nodes with free capacity. The
 * journal has the data of lost jobs.
 */
export class BullRunQueue extends RunQueue {
  /** Whether workers wait for the database. */
  private isWaiting = false;
  private readonly queues = new Map<string, Promise<Queue>>();
  /** By queue name. */
  private readonly workers = new Map<string, Promise<Worker>>();
  private readonly earlier = new Set<string>();
  private take: TakeRun | undefined;
  private backend: Promise<BullBackend> | undefined;
  private isClosed = false;

  constructor(
    private readonly config: RunConfig,
    private readonly place: DatabaseConfig,
    private readonly database: Database,
  ) {
    super();
  }

  /** Earlier loop versions seldom have jobs, while each worker polls, and holds connections to Redis. */
  override async start(names: readonly string[], earlier: readonly string[], take: TakeRun): Promise<void> {
    this.take = take;
    for (const name of earlier) this.earlier.add(name);
    // One queue shows at the end whether the backend answers; the others connect with their first run.
    await Promise.all(names.slice(0, 1).map((name) => this.queue(name)));
    // A retry skips the workers that were created before the failure.
    for (const name of names) await this.worker(name, take);
  }

  override async startEarlier(): Promise<void> {
    const { take } = this;
    if (take) await Promise.all([...this.earlier].map((name) => this.worker(name, take)));
  }

  override async add(runs: readonly RunRef[]): Promise<void> {
    for (const [name, refs] of Map.groupBy(runs, queueOf)) {
      const queue = await this.queue(name);
      if (this.take && this.earlier.has(name)) await this.worker(name, this.take);
      await queue.addBulk(
        refs.map(({ id, epoch, priority }) => ({
          name: 'run',
          data: { runId: id },
          // BullMQ starts jobs without priority first, then the lowest number.
          opts: { ...JOB, jobId: `${id}-${epoch}`, priority: MAX_PRIORITY - priority + 1 },
        })),
      );
    }
    this.outage.recovered();
  }

  override async pause(): Promise<void> {
    await this.eachWorker((worker) => worker.pause(true));
  }

  override async close(): Promise<void> {
    this.isClosed = true;
    const isUnreachable = !(await this.answers());
    await this.eachWorker((worker) => worker.close(isUnreachable));
    await Promise.all([...this.queues.values()].map(leave));
    const closed = this.backend?.then((backend) => backend.close());
    if (closed) await isDoneWithin(ANSWER_MS, closed);
  }

  /** True without a queue. */
  override async answers(): Promise<boolean> {
    const counts = [...this.queues.values()].slice(0, 1).map(async (queue) => (await queue).count());
    return isDoneWithin(ANSWER_MS, Promise.all(counts));
  }

  private open(): Promise<BullBackend> {
    this.backend ??= openBackend(this.place, this.database.place, this.config.cluster).catch((error: unknown) => {
      this.backend = undefined;
      throw error;
    });
    return this.backend;
  }

  private queue(name: string): Promise<Queue> {
    let queue = this.queues.get(name);
    if (!queue) {
      queue = this.create(name);
      // The next call creates a failed queue again.
      queue.catch(() => this.queues.delete(name));
      this.queues.set(name, queue);
    }
    return queue;
  }

  /** Resolves with the worker of a queue, which takes jobs. A failed one is created again by the next call. */
  private worker(name: string, take: TakeRun): Promise<Worker> {
    let worker = this.workers.get(name);
    if (!worker) {
      worker = this.createWorker(name, take);
      worker.catch(() => this.workers.delete(name));
      this.workers.set(name, worker);
    }
    return worker;
  }

  private async createWorker(name: string, take: TakeRun): Promise<Worker> {
    const backend = await this.open();
    const worker = await backend.worker(name, (job, token) => this.process(backend, job, token, take), {
      concurrency: this.config.concurrency,
      lockDuration: this.config.cluster.leaseMs,
      stalledInterval: this.config.cluster.checkMs,
      maxStalledCount: UNLIMITED,
    });
    worker.on('error', (error) => this.outage.failed(error));
    worker.on('active', () => this.outage.recovered());
    // `close` has already run: close the new worker too.
    if (this.isClosed) await worker.close(true);
    return worker;
  }

  private async eachWorker(action: (worker: Worker) => Promise<void>): Promise<void> {
    await Promise.allSettled([...this.workers.values()].map(async (worker) => action(await worker)));
  }

  private async create(name: string): Promise<Queue> {
    const queue = await (await this.open()).queue(name);
    queue.on('error', (error) => this.outage.failed(error));
    return queue;
  }

  /** A job whose run cannot start now returns to the queue. */
  private async process(
    { DelayedError }: BullBackend,
    job: Job<{ runId: string }>,
    token: string | undefined,
    take: TakeRun,
  ): Promise<void> {
    const outcome = await take(job.data.runId).catch((error: unknown) => {
      if (!isUnavailable(error)) throw error;
      void this.waitForDatabase();
      return 'full';
    });
    if (outcome === 'done') return;
    await job.moveToDelayed(Date.now() + FULL_RETRY_MS, token);
    throw new DelayedError();
  }

  /** Without its database this process takes no jobs: others can start them. */
  private async waitForDatabase(): Promise<void> {
    if (this.isWaiting) return;
    this.isWaiting = true;
    await this.pause();
    await this.database.available();
    this.isWaiting = false;
    if (!this.isClosed) await this.eachWorker(async (worker) => worker.resume());
  }
}

function isUnavailable(error: unknown): boolean {
  return isStorageUnavailable(error) || (error instanceof AppError && error.code === 'JOURNAL_UNAVAILABLE');
}

/** Closes a queue with a time limit: without a connection, BullMQ would reconnect for ever. */
async function leave(made: Promise<Queue>): Promise<void> {
  if (!(await isDoneWithin(ANSWER_MS, made))) return;
  const queue = await made;
  if (!(await isDoneWithin(ANSWER_MS, queue.close()))) await isDoneWithin(ANSWER_MS, queue.disconnect());
}
