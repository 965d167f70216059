import { setTimeout as pause } from 'node:timers/promises';

/** Pause between two batches, in ms, in which others can use the database. */
const REST_MS = 20;

export interface RecurringWorkOptions {
  /** @returns ms until the next round; `null` to stop */
  readonly work: () => Promise<number | null>;
  /** Receives the error of a failed round; the round is retried. */
  readonly onFailure: (error: unknown) => void;
  /** Delay of the retry after a failure, in ms. */
  readonly retryMs: number;
}

/** Background work, one round at a time. It delays neither the end of the process nor a shutdown. */
export class RecurringWork {
  private timer: NodeJS.Timeout | undefined;
  private round: Promise<void> = Promise.resolve();
  private isOver = false;

  constructor(private readonly options: RecurringWorkOptions) {}

  /** Whether the present round should finish early. */
  get isStopping(): boolean {
    return this.isOver;
  }

  /** @param firstMs delay of the first round, in ms */
  start(firstMs: number): void {
    if (this.isOver) return;
    this.timer = setTimeout(() => void (this.round = this.runRound()), firstMs);
    this.timer.unref();
  }

  /** Stops the work; resolves after the present round. */
  async stop(): Promise<void> {
    this.isOver = true;
    clearTimeout(this.timer);
    await this.round;
  }

  /** Waits between two batches of a round, so that other work can use the database. */
  async rest(): Promise<void> {
    await pause(REST_MS, undefined, { ref: false });
  }

  private async runRound(): Promise<void> {
    const { work, onFailure, retryMs } = this.options;
    const nextMs = await work().catch((error: unknown) => (onFailure(error), retryMs));
    if (!this.isOver && nextMs !== null) this.start(nextMs);
  }
}
