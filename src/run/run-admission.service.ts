import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { AppError } from '../common/index.js';

/** When to come back: to another process, or to the next one. */
const RETRY_MS = 1_000;

/** Who still comes in: at a shutdown nobody, and what has come in is waited for. */
@Injectable()
export class RunAdmissionService implements OnModuleDestroy {
  private closing = false;
  /** Runs that were let in and are being journaled or claimed. */
  private readonly admitted = new Set<Promise<unknown>>();

  get isClosing(): boolean {
    return this.closing;
  }

  onModuleDestroy(): void {
    this.closing = true;
  }

  /** @throws AppError `SHUTTING_DOWN` */
  async admit<T>(begin: () => Promise<T>): Promise<T> {
    if (this.closing) {
      throw new AppError('SHUTTING_DOWN', 'The server is shutting down and takes no new runs; try again in a moment.', {
        isRetryable: true,
        details: { retry_after_ms: RETRY_MS },
      });
    }
    return this.track(begin());
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

  /** Lets nobody in any more; resolves when all who are in have begun, and no tracked work is left. */
  async close(): Promise<void> {
    this.closing = true;
    while (this.admitted.size > 0) await Promise.allSettled(this.admitted);
  }
}
