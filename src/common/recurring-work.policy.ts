import { setTimeout as pause } from 'node:timers/promises';

/** Between two batches others have the database to themselves, in ms. */
const REST_MS = 20;

export interface RecurringWorkOptions {
  /** @returns in how many ms it is to be done again; `null` for never */
  readonly work: () => Promise<number | null>;
  /** Hears why it failed; it is done again then. */
  readonly onFailure: (error: unknown) => void;
  /** In how many ms it is done again after a failure. */
  readonly retryMs: number;
}

/** Work in the background, one round at a time, that keeps no process alive and none from stopping. */
export class RecurringWork {
  private timer: NodeJS.Timeout | undefined;
  private round: Promise<void> = Promise.resolve();
  private isOver = false;

  constructor(private readonly options: RecurringWorkOptions) {}

  /** Whether a round that goes on is to come to its end. */
  get isStopping(): boolean {
    return this.isOver;
  }

  /** @param firstMs until the first round */
  start(firstMs: number): void {
    this.timer = setTimeout(() => void (this.round = this.go()), firstMs);
    this.timer.unref();
  }

  /** Resolves when no round goes on, and none will begin. */
  async stop(): Promise<void> {
    this.isOver = true;
    clearTimeout(this.timer);
    await this.round;
  }

  /** For a round: a pause between two batches. */
  async rest(): Promise<void> {
    await pause(REST_MS, undefined, { ref: false });
  }

  private async go(): Promise<void> {
    const { work, onFailure, retryMs } = this.options;
    const nextMs = await work().catch((error: unknown) => (onFailure(error), retryMs));
    if (!this.isOver && nextMs !== null) this.start(nextMs);
  }
}
