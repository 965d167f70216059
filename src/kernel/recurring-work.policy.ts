import { setTimeout as pause } from 'node:timers/promises';
import { WallClockCheck } from './clock.js';

/** Pause between two batches, in ms, in which others can use the database. */
const REST_MS = 20;

export interface RecurringWorkOptions {
  /** @returns ms until the next round; `null` to stop */
  readonly work: () => Promise<number | null>;
  /** Receives the error of a failed round; the round is retried. */
  readonly onFailure: (error: unknown) => void;
  /** Delay of the retry after a failure, in ms. */
  readonly retryMs: number;
  /**
   * Set if the work deletes data by age: it then waits ten minutes after a jump of the wall clock. Called with the jump,
   * in ms.
   */
  readonly onClockJump?: (jumpMs: number) => void;
}

/** Background work, one round at a time. It delays neither the end of the process nor a shutdown. */
export class RecurringWork {
  private timer: NodeJS.Timeout | undefined;
  private round: Promise<void> = Promise.resolve();
  private isOver = false;
  private isActive = false;
  private isWoken = false;
  private readonly clock = new WallClockCheck();

  constructor(private readonly options: RecurringWorkOptions) {}

  /** Whether the present round should finish early. */
  get isStopping(): boolean {
    return this.isOver;
  }

  /** @param firstMs delay of the first round, in ms */
  start(firstMs: number): void {
    if (this.isOver) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void (this.round = this.runRound()), firstMs);
    this.timer.unref();
  }

  /** Starts the next round now, or at the end of the present one. No effect before `start`. */
  wake(): void {
    if (this.timer === undefined || this.isOver) return;
    if (this.isActive) this.isWoken = true;
    else this.start(0);
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

  private clockWaitMs(): number {
    const { onClockJump } = this.options;
    return onClockJump ? this.clock.waitMs(onClockJump) : 0;
  }

  private async runRound(): Promise<void> {
    const { work, onFailure, retryMs } = this.options;
    const waitMs = this.clockWaitMs();
    if (waitMs > 0) return this.start(waitMs);
    this.isActive = true;
    this.isWoken = false;
    const nextMs = await work().catch((error: unknown) => (onFailure(error), retryMs));
    this.isActive = false;
    if (!this.isOver && nextMs !== null) this.start(this.isWoken ? 0 : nextMs);
  }
}
