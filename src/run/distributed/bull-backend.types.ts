import type { DelayedError, Processor, Queue, Worker, WorkerOptions } from 'bullmq';

/** Creates queues and workers on one BullMQ backend. */
export interface BullBackend {
  /** Fails if PostgreSQL does not answer; on Redis, queues and workers connect by themselves. */
  queue(name: string): Promise<Queue>;
  /** The error of a processor that has returned its job to the queue. */
  readonly DelayedError: new () => DelayedError;
  worker(name: string, processor: Processor, options: Omit<WorkerOptions, 'connection'>): Promise<Worker>;
  /** Closes the connections that queues and workers share. */
  close(): Promise<void>;
}
