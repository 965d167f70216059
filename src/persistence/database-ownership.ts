import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../errors/index.js';
import type { OpenPersistence } from './persistence.types.js';

/** Pause between two attempts to take the lock, in ms. */
const AGAIN_MS = 50;

/** Opens a database that another process may own. The wait for that process does not block the event loop. */
export class DatabaseOwnership {
  private opening: Promise<OpenPersistence> | null = null;
  private pausing: Promise<void> | null = null;
  private isEnding = false;
  private isClosed = false;

  /** @param open fails with `DATABASE_LOCKED` while another process owns the database */
  constructor(private readonly open: () => Promise<OpenPersistence>) {}

  /**
   * Opens the database, or waits until it is open. The wait does not keep the process alive.
   * @param waitMs longest wait for the present owner; callers share the attempts
   * @throws AppError `DATABASE_LOCKED` after this time, `SHUTTING_DOWN` after `close`
   */
  async opened(waitMs: number): Promise<OpenPersistence> {
    const end = performance.now() + waitMs;
    for (;;) {
      if (this.isClosed) throw new AppError('SHUTTING_DOWN', 'The application is closed; its database was never open.');
      try {
        return await (this.opening ??= this.attempt());
      } catch (error) {
        if (!isLocked(error) || this.isEnding || performance.now() >= end) throw error;
      }
      await (this.pausing ??= this.rest());
    }
  }

  /** Present and later calls try once more. */
  endWaits(): void {
    this.isEnding = true;
  }

  /** Ends all waits, and closes the database if it is open. */
  async close(): Promise<void> {
    this.isClosed = true;
    const opened = await this.opening?.catch(() => null);
    await opened?.close();
  }

  private async attempt(): Promise<OpenPersistence> {
    try {
      return await this.open();
    } catch (error) {
      this.opening = null;
      throw error;
    }
  }

  private async rest(): Promise<void> {
    await pause(AGAIN_MS, undefined, { ref: false });
    this.pausing = null;
  }
}

/** Whether another process owns the database. */
export function isLocked(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'DATABASE_LOCKED';
}
