import cluster, { type Worker } from 'node:cluster';
import { WORKER_VARIABLE } from '../../config/worker.loader.js';
import { rescueConnections } from './lost-connections.js';
import { WorkerHealth } from './worker-health.js';
import type { SupervisorMessage, WorkerMessage, WorkerReady } from './worker-message.types.js';

/** Longest wait for the metrics of a worker, in ms. */
const METRICS_LIMIT_MS = 3_000;

export interface WorkerEnd {
  /** Exit code; 1 after a signal. */
  readonly code: number;
  /** `exit code 1`, or `SIGKILL`. */
  readonly reason: string;
}

/** `starting` replaces a worker only when it is ready; `retiring` is replaced, and ends. */
export type WorkerRole = 'starting' | 'serving' | 'retiring';

// In turn, as clients hold connections: with a socket of its own for each worker, one may have them all. The default except on Windows.
cluster.schedulingPolicy = cluster.SCHED_RR;

/** A worker, as its supervisor sees it. */
export class WorkerProcess {
  /** Resolves when the worker listens; with `null` if it ended before. */
  readonly ready: Promise<WorkerReady | null>;
  readonly ended: Promise<WorkerEnd>;
  readonly health = new WorkerHealth();
  isReady = false;
  /** On the monotonic clock, in ms. */
  readonly startedAt = performance.now();
  private readonly worker: Worker;
  private readonly scrapes = new Map<number, (text: string) => void>();
  private lastScrape = 0;

  /**
   * Starts the program of this process as a worker.
   * @param number from 1; no other worker has it
   * @param folder for sockets of workers
   * @param scrapeAll reads the metrics of all workers
   */
  constructor(
    readonly number: number,
    public role: WorkerRole,
    folder: string,
    private readonly scrapeAll: () => Promise<string>,
  ) {
    this.worker = cluster.fork({ [WORKER_VARIABLE]: `${number}:${folder}` });
    rescueConnections(this.worker);
    this.ended = new Promise((resolve) => {
      this.worker.once('exit', (code: number | null, signal: string | null) =>
        resolve({ code: code ?? 1, reason: signal ?? `exit code ${code}` }),
      );
    });
    this.ready = new Promise((resolve) => {
      this.worker.on('message', (message: WorkerMessage) => this.receive(message, resolve));
      void this.ended.then(() => resolve(null));
    });
    // A worker that ends while it is sent a message.
    this.worker.on('error', () => undefined);
  }

  get name(): string {
    return `Worker ${this.number} (process ${this.worker.process.pid})`;
  }

  /** Ends the worker as a signal ends a server. */
  stop(): void {
    if (this.isReady) this.send({ jackdaw: 'stop' });
    else this.worker.process.kill('SIGTERM');
  }

  /** Ends the worker after the requests on its connections. @param limitMs longest wait for them */
  retire(limitMs: number): void {
    this.role = 'retiring';
    this.send({ jackdaw: 'retire', limitMs });
  }

  kill(): void {
    this.worker.process.kill('SIGKILL');
  }

  /** The metrics of this worker; `null` if it does not answer in time. */
  metrics(): Promise<string | null> {
    const id = ++this.lastScrape;
    return new Promise((resolve) => {
      const end = (text: string | null) => {
        clearTimeout(timer);
        this.scrapes.delete(id);
        resolve(text);
      };
      const timer = setTimeout(() => end(null), METRICS_LIMIT_MS);
      this.scrapes.set(id, end);
      void this.ended.then(() => end(null));
      this.send({ jackdaw: 'metrics', id });
    });
  }

  /** Messages of the application's own code are ignored. */
  private receive(message: WorkerMessage, onReady: (ready: WorkerReady) => void): void {
    switch (message?.jackdaw) {
      case 'ready':
        this.isReady = true;
        return onReady(message);
      case 'health':
        return this.health.note(message.signal);
      case 'metrics':
        return this.scrapes.get(message.id)?.(message.text);
      case 'scrape':
        return void this.scrapeAll().then((text) => this.send({ jackdaw: 'scraped', id: message.id, text }));
    }
  }

  private send(message: SupervisorMessage): void {
    if (this.worker.isConnected()) this.worker.send(message, () => undefined);
  }
}
