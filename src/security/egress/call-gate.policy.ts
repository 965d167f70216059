import { tookTooLong } from './outgoing.error.js';

/** Sizes of a connection pool, and the limit of the wait for a connection. */
export interface GateOptions {
  /** Connections of the pool. */
  readonly pool: number;
  /** Additional connections while all connections of the pool are in use. */
  readonly overflow: number;
  /** Maximum time in the queue, in ms. */
  readonly waitMs: number;
}

/** Source of a call's connection. */
export type GatePlace = 'pool' | 'overflow';

/** Limits concurrent calls to the number of connections; further calls queue in order of arrival. */
export class CallGate {
  private readonly free: Record<GatePlace, number>;
  private readonly waiting: ((place: GatePlace) => void)[] = [];

  constructor(private readonly options: GateOptions) {
    this.free = { pool: options.pool, overflow: options.overflow };
  }

  /**
   * Runs a call as soon as a connection is free.
   * @throws AppError `OUTGOING_TIMEOUT` after `waitMs` (retryable); the signal's reason; the call's error
   */
  async pass<T>(call: (place: GatePlace) => Promise<T>, signal: AbortSignal): Promise<T> {
    const place = this.take() ?? (await this.turn(signal));
    try {
      return await call(place);
    } finally {
      this.leave(place);
    }
  }

  private take(): GatePlace | null {
    const place = this.free.pool > 0 ? 'pool' : 'overflow';
    if (this.free[place] === 0) return null;
    this.free[place]--;
    return place;
  }

  private async turn(signal: AbortSignal): Promise<GatePlace> {
    const { waitMs } = this.options;
    signal.throwIfAborted();
    return new Promise<GatePlace>((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      };
      const go = (place: GatePlace) => {
        end();
        resolve(place);
      };
      const fail = (reason: unknown) => {
        this.waiting.splice(this.waiting.indexOf(go), 1);
        end();
        reject(reason);
      };
      const abort = () => fail(signal.reason);
      const late = () => fail(tookTooLong(`No connection of this session became free within ${waitMs} ms.`));
      const timer = setTimeout(late, waitMs);
      signal.addEventListener('abort', abort, { once: true });
      this.waiting.push(go);
    });
  }

  /** Passes the free place to the call that has waited longest. */
  private leave(place: GatePlace): void {
    const next = this.waiting.shift();
    if (next) next(place);
    else this.free[place]++;
  }
}
