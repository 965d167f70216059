import { failed, tookTooLong } from './outgoing.error.js';

/** Concurrency limit of calls and limits of their queue. */
export interface GateOptions {
  /** Maximum concurrent calls. */
  readonly most: number;
  /** Maximum queued calls. */
  readonly mostWaiting: number;
  /** Maximum time in the queue, in ms. */
  readonly waitMs: number;
}

/** Limits concurrent calls to the number of connections; further calls queue in order of arrival. */
export class CallGate {
  private inside = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly options: GateOptions) {}

  /**
   * Runs a call as soon as a connection is free.
   * @throws AppError `OUTGOING_FAILED` if the queue is full, `OUTGOING_TIMEOUT` after `waitMs` (both retryable); the
   * signal's reason; the call's error
   */
  async pass<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.inside < this.options.most) this.inside++;
    else await this.turn(signal);
    try {
      return await call();
    } finally {
      this.leave();
    }
  }

  private async turn(signal: AbortSignal): Promise<void> {
    const { most, mostWaiting, waitMs } = this.options;
    signal.throwIfAborted();
    if (this.waiting.length >= mostWaiting) {
      throw failed(
        `All ${most} connections of this session are in use, and the queue of ${mostWaiting} calls is full.`,
      );
    }
    await new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        settle();
      };
      const go = () => end(resolve);
      const fail = (reason: unknown) => {
        this.waiting.splice(this.waiting.indexOf(go), 1);
        end(() => reject(reason));
      };
      const abort = () => fail(signal.reason);
      const late = () => fail(tookTooLong(`No connection of this session became free within ${waitMs} ms.`));
      const timer = setTimeout(late, waitMs);
      signal.addEventListener('abort', abort, { once: true });
      this.waiting.push(go);
    });
  }

  /** Passes the free place to the call that has waited longest. */
  private leave(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.inside--;
  }
}
