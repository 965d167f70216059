import type { Worker } from 'node:worker_threads';
import { TimeLimit } from '../../kernel/index.js';
import type { SchemaCheckReply, SchemaCheckRequest } from './schema-check.types.js';
import { startSchemaWorker } from './schema-worker.js';

/** Maximum memory of the JavaScript objects of a thread, in MiB. */
const MAX_HEAP_MB = 256;
/** Maximum start time of the thread, in ms. */
const START_MS = 10_000;
/** A spare thread starts after this part of the deadline. */
const SPARE_PART = 4;

/** Why there is no reply: the check took too long or exhausted the memory, too many wait, or the thread cannot start. */
export type NoReply = { readonly kind: 'late' | 'busy' } | { readonly kind: 'failed'; readonly message: string };

type Reply = Exclude<SchemaCheckReply, { kind: 'ready' | 'missing' }> | NoReply;

interface Job {
  readonly request: SchemaCheckRequest;
  readonly resolve: (reply: Reply) => void;
}

/** A started thread, which accepts checks when it is ready. */
interface Started {
  readonly worker: Worker;
  isReady: boolean;
}

/**
 * A thread for checks, one at a time in their order. A check that takes too long ends the thread, and the next checks
 * have another one, which starts during the long check. An idle thread does not delay the end of the process.
 */
export class SchemaThread {
  private thread: Started | null = null;
  /** Replaces the thread when it ends. */
  private spare: Started | null = null;
  private current: Job | null = null;
  private timer: TimeLimit | undefined;
  private spareTimer: NodeJS.Timeout | undefined;
  private readonly waiting: Job[] = [];
  /** Why the last thread ended by itself. */
  private fault = 'it ended';

  /**
   * @param deadlineMs maximum time of a check, in ms
   * @param maxWaiting maximum number of waiting checks
   * @param isTransient whether the thread ends when it is idle, and has no spare one
   */
  constructor(
    private readonly deadlineMs: number,
    private readonly maxWaiting: number,
    private readonly isTransient = false,
  ) {}

  /** Never rejects. */
  ask(request: SchemaCheckRequest): Promise<Reply> {
    if (this.waiting.length >= this.maxWaiting) return Promise.resolve({ kind: 'busy' });
    return new Promise((resolve) => {
      this.waiting.push({ request, resolve });
      this.next();
    });
  }

  /** Starts the thread before the first check. */
  warm(): void {
    this.thread ??= this.start();
  }

  /** Ends the thread and the spare one if they are idle. */
  release(): void {
    if (this.current || this.waiting.length > 0) return;
    for (const started of [this.thread, this.spare]) void started?.worker.terminate();
    this.thread = this.spare = null;
  }

  private next(): void {
    if (this.current) return;
    if (this.waiting.length === 0) return this.rest();
    const { worker, isReady } = (this.thread ??= this.start());
    worker.ref();
    if (!isReady) {
      if (this.timer === undefined) this.within(START_MS, () => this.fail());
      return;
    }
    this.current = this.waiting.shift()!;
    const { key, checked } = this.current.request;
    this.send(worker, { key, ...(checked && { checked }) });
  }

  private rest(): void {
    if (this.isTransient) this.release();
    else this.thread?.worker.unref();
  }

  private send(worker: Worker, request: SchemaCheckRequest): void {
    this.within(this.deadlineMs, () => this.end());
    if (!this.isTransient)
      this.spareTimer = setTimeout(() => (this.spare ??= this.start()), this.deadlineMs / SPARE_PART).unref();
    try {
      // The rule is for windows of a browser.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      worker.postMessage(request);
    } catch (error) {
      // A value that is not JSON.
      this.settle({ kind: 'unusable', message: error instanceof Error ? error.message : String(error) });
    }
  }

  /** Calls `late` unless a message arrives; one that arrived while the event loop was blocked is received first. */
  private within(ms: number, late: () => void): void {
    this.stopTimers();
    this.timer = new TimeLimit(ms, late).unref();
  }

  private stopTimers(): void {
    this.timer?.clear();
    clearTimeout(this.spareTimer);
    this.timer = undefined;
  }

  private start(): Started {
    const worker = startSchemaWorker({
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    const started: Started = { worker, isReady: false };
    worker.on('message', (reply: SchemaCheckReply) => this.received(started, reply));
    worker.on('error', ({ message }) => (this.fault = message));
    worker.on('exit', () => this.exited(started));
    worker.unref();
    return started;
  }

  private received(started: Started, reply: SchemaCheckReply): void {
    if (reply.kind === 'ready') started.isReady = true;
    if (started !== this.thread) return;
    if (reply.kind === 'ready') {
      this.stopTimers();
      this.next();
    } else if (reply.kind !== 'missing') this.settle(reply);
    else if (this.current) this.send(started.worker, this.current.request);
  }

  private exited(started: Started): void {
    if (started === this.spare) this.spare = null;
    if (started !== this.thread) return;
    if (started.isReady) this.end();
    else this.fail();
  }

  private settle(reply: Reply): void {
    this.stopTimers();
    const job = this.current;
    this.current = null;
    job?.resolve(reply);
    this.next();
  }

  /** Ends the thread, and with it the current check. */
  private end(): void {
    void this.thread?.worker.terminate();
    this.thread = this.spare;
    this.spare = null;
    if (!this.isTransient) this.warm();
    this.settle({ kind: 'late' });
  }

  /** The thread cannot start: every waiting check fails, since another thread would not start either. */
  private fail(): void {
    for (const { resolve } of this.waiting.splice(0)) resolve({ kind: 'failed', message: this.fault });
    this.stopTimers();
    this.release();
  }
}
