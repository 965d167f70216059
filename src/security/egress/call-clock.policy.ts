import { tookTooLong } from './outgoing.error.js';

export interface CallTimes {
  readonly timeoutMs: number;
  readonly firstByteTimeoutMs?: number;
}

/** Time limits of one call. Its signal aborts on a time-out and on the caller's abort. */
export interface CallClock {
  readonly signal: AbortSignal;
  /** The time-out error, if a limit has passed. */
  readonly failure: Error | undefined;
  /** Starts the limit until the first byte of the reply. */
  awaitFirstByte(host: string): void;
  firstByteCame(): void;
  stop(): void;
}

/** Starts the clock of a call. Times are ms. */
export function callClock({ timeoutMs, firstByteTimeoutMs }: CallTimes, signal?: AbortSignal): CallClock {
  const clock = new AbortController();
  let host = '';
  let silence: NodeJS.Timeout | undefined;
  const end = (ms: number, what: string) =>
    setTimeout(() => clock.abort(tookTooLong(`${host || 'The call'} ${what} within ${ms} ms.`)), ms);
  const whole = end(timeoutMs, 'did not finish');
  return {
    signal: signal ? AbortSignal.any([signal, clock.signal]) : clock.signal,
    get failure() {
      return clock.signal.aborted ? (clock.signal.reason as Error) : undefined;
    },
    awaitFirstByte(name) {
      host = name;
      if (firstByteTimeoutMs !== undefined) silence = end(firstByteTimeoutMs, 'did not start to answer');
    },
    firstByteCame: () => clearTimeout(silence),
    stop() {
      clearTimeout(silence);
      clearTimeout(whole);
    },
  };
}
