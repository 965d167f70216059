import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import type { RunHead } from '../run.types.js';
import { HEAP_COST, HeapBudget, HeapReservation } from '../../kernel/index.js';

/** Suggested retry delay, in ms; another or the next process then answers. */
const RETRY_MS = 1_000;

/** The error of a start or of a creation during a shutdown. */
export function shuttingDown(): AppError {
  const message = 'The server is shutting down and accepts no new runs and sessions; retry in a moment.';
  return new AppError('SHUTTING_DOWN', message, { isRetryable: true, details: { retry_after_ms: RETRY_MS } });
}

/** The error of a request or a start for which the heap has no space. */
export function heapExhausted(): AppError {
  const message = 'The server has no memory for this request at the moment; retry later, or send a smaller one.';
  const retry_after_ms = Math.round(RETRY_MS * (1 + Math.random()));
  return new AppError('HEAP_EXHAUSTED', message, { isRetryable: true, details: { retry_after_ms } });
}

/** Admits new runs and sessions. At a shutdown it rejects new ones and waits for the admitted ones. */
@Injectable()
export class RunAdmissionService implements OnModuleDestroy {
  private closing = false;
  /** Admitted runs and sessions that are being stored or claimed. */
  private readonly admitted = new Set<Promise<unknown>>();

  constructor(private readonly heap: HeapBudget) {}

  get isClosing(): boolean {
    return this.closing;
  }

  onModuleDestroy(): void {
    this.stop();
  }

  /** Rejects new runs and sessions; the server is not ready any more. */
  stop(): void {
    this.closing = true;
  }

  /**
   * @param content size of the new run's input, in UTF-16 units; 0 if no new run starts
   * @throws AppError `SHUTTING_DOWN`, `HEAP_EXHAUSTED`
   */
  async admit<T>(begin: () => Promise<T>, content = 0): Promise<T> {
    if (this.closing) throw shuttingDown();
    return this.track(this.reserved(begin, content));
  }

  /**
   * Reserves heap for the execution of a stored run, within the reservation of its request if there is one. The caller
   * releases it.
   * @param sizeOf reads the bytes of the run's input and steps
   * @returns null if the run must wait; a child run never waits, as its parent waits for it
   */
  async reserve(run: RunHead, sizeOf: (run: RunHead) => Promise<number>): Promise<HeapReservation | null> {
    const { current } = HeapReservation;
    if (current) return current.retain();
    const bytes = (await sizeOf(run)) * HEAP_COST.journal;
    return run.lineage ? this.heap.openAnyway(bytes) : this.heap.openAccepted(bytes);
  }

  /** A request has a reservation already; a start by the application gets one. */
  private async reserved<T>(begin: () => Promise<T>, content: number): Promise<T> {
    if (content === 0 || HeapReservation.current) return begin();
    const reservation = this.heap.open(content * HEAP_COST.request);
    if (!reservation) throw heapExhausted();
    try {
      return await reservation.run(begin);
    } finally {
      reservation.release();
    }
  }

  /** Work that a shutdown waits for. */
  async track<T>(work: Promise<T>): Promise<T> {
    this.admitted.add(work);
    try {
      return await work;
    } finally {
      this.admitted.delete(work);
    }
  }

  /** Rejects new runs; resolves when all admitted runs have started and no tracked work is left. */
  async close(): Promise<void> {
    this.stop();
    while (this.admitted.size > 0) await Promise.allSettled(this.admitted);
  }
}
