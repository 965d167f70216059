import { failed, tookTooLong } from './outgoing.error.js';

/** How many calls are made at once, and what becomes of the others. */
export interface GateOptions {
  /** The most that are made at once. */
  readonly most: number;
  /** The most that wait for their turn. */
  readonly mostWaiting: number;
  /** The longest time that one waits, in ms. */
  readonly waitMs: number;
}

/** Lets as many calls through at once as there are connections; the others wait in the order in which they came. */
export class CallGate {
  private inside = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly options: GateOptions) {}

  /**
   * Makes a call as soon as it may be made.
   * @throws AppError `OUTGOING_FAILED` when too many wait, `OUTGOING_TIMEOUT` when it has waited too long, both retryable;
   * the signal's reason; what the call throws
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
      throw failed(`All ${most} connections of this session are in use, and ${mostWaiting} calls wait for one.`);
    }
    await new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        settle();
      };
      const go = () => end(resolve);
      const giveUp = (reason: unknown) => {
        this.waiting.splice(this.waiting.indexOf(go), 1);
        end(() => reject(reason));
      };
      const abort = () => giveUp(signal.reason);
      const late = () => giveUp(tookTooLong(`No connection of this session became free within ${waitMs} ms.`));
      const timer = setTimeout(late, waitMs);
      signal.addEventListener('abort', abort, { once: true });
      this.waiting.push(go);
    });
  }

  /** Whoever waits longest takes the place. */
  private leave(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.inside--;
  }
}
