import { Logger } from '@nestjs/common';
import type { Job, JobsOptions, Queue, Worker } from 'bullmq';
import { MAX_PRIORITY } from '../intake/priority.policy.js';
import { isDoneWithin, messageOf } from '../../common/index.js';
import { AppConfig } from '../../config/index.js';
import { openBackend, type BullBackend } from './bull-backend.factory.js';
import { queueOf, type RunRef } from './run-ref.types.js';

/** A started job whose process died is taken up again without limit: how often a run is tried is the journal's to say. */
const UNLIMITED = 1_000_000;
const JOB: JobsOptions = { removeOnComplete: true, removeOnFail: true };
/** How long what the queues are kept on has to answer at the end, in ms. */
const ANSWER_MS = 1000;
/** When a run for which there is no room is tried again, here or elsewhere, in ms. */
const NO_ROOM_MS = 250;

/** Executes a run to its end, or says that there is no room for it now. */
export type TakeRun = (runId: string) => Promise<'done' | 'full'>;

/**
 * BullMQ, on the journal's PostgreSQL or on Redis: says which runs are to be started, to whoever has room. What it
 * loses, the journal has; a job is only a run's id.
 */
export class BullRunQueue {
  private readonly logger = new Logger(BullRunQueue.name);
  private readonly queues = new Map<string, Promise<Queue>>();
  /** By the queue that they take from. */
  private readonly workers = new Map<string, Worker>();
  private backend: Promise<BullBackend> | undefined;
  private isClosed = false;

  constructor(private readonly config: AppConfig) {}

  /**
   * Takes jobs of these queues. What throws has started nothing and may be tried again.
   * @param take resolves when the run has ended or is somebody else's
   */
  async start(names: readonly string[], take: TakeRun): Promise<void> {
    const backend = await this.open();
    await Promise.all(names.map((name) => this.queue(name)));
    if (this.isClosed) return;
    // Those that were made before something went wrong are there already.
    for (const name of names.filter((one) => !this.workers.has(one))) {
      const worker = await backend.worker(name, (job, token) => process(backend, job, token, take), {
        concurrency: this.config.run.concurrency,
        lockDuration: this.config.cluster.leaseMs,
        stalledInterval: this.config.cluster.checkMs,
        maxStalledCount: UNLIMITED,
      });
      worker.on('error', (error) => this.tell(error));
      this.workers.set(name, worker);
      // Nobody closes it any more.
      if (this.isClosed) return this.close();
    }
  }

  /** Asks for runs to be started; one that has been asked for in its present epoch stays one job. */
  async add(runs: readonly RunRef[]): Promise<void> {
    for (const [name, refs] of Map.groupBy(runs, queueOf)) {
      const queue = await this.queue(name);
      await queue.addBulk(
        refs.map(({ id, epoch, priority }) => ({
          name: 'run',
          data: { runId: id },
          // BullMQ begins with the lowest, after those that have none.
          opts: { ...JOB, jobId: `${id}-${epoch}`, priority: MAX_PRIORITY - priority + 1 },
        })),
      );
    }
  }

  /** Takes no more jobs. */
  async pause(): Promise<void> {
    await Promise.all([...this.workers.values()].map((worker) => worker.pause(true)));
  }

  /** Waits for the jobs that were taken, then disconnects; nobody waits for a queue that does not answer. */
  async close(): Promise<void> {
    this.isClosed = true;
    const isAway = !(await this.answers());
    await Promise.allSettled([...this.workers.values()].map((worker) => worker.close(isAway)));
    await Promise.all([...this.queues.values()].map(leave));
  }

  /** Whether what the queues are kept on is there now; also when there is none. */
  private async answers(): Promise<boolean> {
    const asked = [...this.queues.values()].slice(0, 1).map(async (queue) => (await queue).count());
    return isDoneWithin(ANSWER_MS, Promise.all(asked));
  }

  private open(): Promise<BullBackend> {
    this.backend ??= openBackend(this.config).catch((error: unknown) => {
      this.backend = undefined;
      throw error;
    });
    return this.backend;
  }

  private queue(name: string): Promise<Queue> {
    let queue = this.queues.get(name);
    if (!queue) {
      queue = this.create(name);
      // One that could not be made is made anew at the next try.
      queue.catch(() => this.queues.delete(name));
      this.queues.set(name, queue);
    }
    return queue;
  }

  private async create(name: string): Promise<Queue> {
    const queue = await (await this.open()).queue(name);
    queue.on('error', (error) => this.tell(error));
    return queue;
  }

  private tell(error: unknown): void {
    this.logger.warn(`The queue of runs: ${messageOf(error)}`);
  }
}

async function process(
  { DelayedError }: BullBackend,
  job: Job<{ runId: string }>,
  token: string | undefined,
  take: TakeRun,
): Promise<void> {
  if ((await take(job.data.runId)) === 'done') return;
  await job.moveToDelayed(Date.now() + NO_ROOM_MS, token);
  throw new DelayedError();
}

/** One that has lost its connection would try for ever to have it back; one that is not made yet never had it. */
async function leave(made: Promise<Queue>): Promise<void> {
  if (!(await isDoneWithin(ANSWER_MS, made))) return;
  const queue = await made;
  if (!(await isDoneWithin(ANSWER_MS, queue.close()))) await isDoneWithin(ANSWER_MS, queue.disconnect());
}
