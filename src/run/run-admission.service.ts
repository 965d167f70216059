import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { AppError } from '../errors/index.js';

/** Suggested retry delay, in ms; another or the next process then answers. */
const RETRY_MS = 1_000;

/** Admits new runs. At a shutdown it rejects new runs and waits for the admitted ones. */
@Injectable()
export class RunAdmissionService implements OnModuleDestroy {
  private closing = false;
  /** Admitted runs that are being journaled or claimed. */
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
      throw new AppError('SHUTTING_DOWN', 'The server is shutting down and accepts no new runs; retry in a moment.', {
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

  /** Rejects new runs; resolves when all admitted runs have started and no tracked work is left. */
  async close(): Promise<void> {
    this.closing = true;
    while (this.admitted.size > 0) await Promise.allSettled(this.admitted);
  }
}
