import type { Dispatcher } from 'undici';
import { AppError } from '../../errors/index.js';
import { HEAP_COST, HeapReservation, TimeLimit } from '../../kernel/index.js';
import {
  BadReplyError,
  BrokenReplyError,
  LateConnectionError,
  LateError,
  SilenceError,
  SuspensionError,
} from './wire-failure.error.js';

/** Maximum size of a reply, in bytes; otherwise one endless line could use all memory. */
const MAX_REPLY = 33_554_432;
/** Unread bytes at which backpressure pauses the provider. */
const MAX_UNREAD = 1_048_576;

export interface ExchangeLimits {
  readonly signal?: AbortSignal | null;
  /** Maximum time until the reply starts, in ms. */
  readonly timeoutMs: number;
  /** Maximum time between two chunks, in ms; `timeoutMs` by default. */
  readonly idleMs?: number;
  /** Maximum time of the whole exchange, in ms; unlimited by default. */
  readonly totalMs?: number;
  /** Minimum time between two chunks for the reader, in ms; chunks that arrive meanwhile are one. 0 by default. */
  readonly intervalMs?: number;
}

export interface ReplyHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * One request and its reply: a handler for undici's events and an iterator over the reply's chunks. It enforces the
 * time limits, and closes the connection at once after a time-out, an abort or an early end of the reader. undici's own
 * body streams do the same with several times the CPU time.
 */
export class ExchangeHandler implements Dispatcher.DispatchHandler, AsyncIterableIterator<Buffer> {
  /** Status and headers of the reply; rejects if no reply starts. */
  readonly head: Promise<ReplyHead>;
  private resolveHead!: (head: ReplyHead) => void;
  private rejectHead!: (failure: Error) => void;
  private controller?: Dispatcher.DispatchController;
  private readonly chunks: Buffer[] = [];
  private unread = 0;
  private received = 0;
  /** Of the run. Its end releases the bytes, also those of failed replies: the text so far is published. */
  private readonly heap = HeapReservation.current;
  private state: 'waiting' | 'started' | 'ended' = 'waiting';
  private failure?: Error;
  private isReleased = false;
  private wake?: () => void;
  /** When the reader got its last chunk, monotonic ms. */
  private takenAt = -Infinity;
  /** Whether the reader waits for the end of the interval. */
  private isPacing = false;
  private readonly silenceLimit: TimeLimit;
  private readonly totalLimit?: TimeLimit;

  constructor(private readonly limits: ExchangeLimits) {
    this.head = new Promise((resolve, reject) => {
      this.resolveHead = resolve;
      this.rejectHead = reject;
    });
    this.silenceLimit = new TimeLimit(limits.timeoutMs, this.onSilence);
    if (limits.totalMs !== undefined) this.totalLimit = new TimeLimit(limits.totalMs, this.onLate);
    limits.signal?.addEventListener('abort', this.onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.failure) controller.abort(this.failure);
  }

  onResponseStart(_controller: unknown, status: number, headers: ReplyHead['headers']): void {
    if (status < 200) return;
    this.state = 'started';
    this.awaitPieces();
    this.resolveHead({ status, headers });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isReleased) return;
    this.received += chunk.length;
    if (this.received > MAX_REPLY) return this.abort(new BadReplyError(`more than ${MAX_REPLY} bytes`));
    const hasSpace = this.heap?.grow(chunk.length * HEAP_COST.reply) ?? true;
    if (!hasSpace) return this.abort(heapExhausted(this.received));
    this.silenceLimit.restart();
    this.chunks.push(chunk);
    this.unread += chunk.length;
    if (this.unread > MAX_UNREAD) controller.pause();
    if (!this.isPacing) this.wake?.();
  }

  onResponseEnd(): void {
    this.state = 'ended';
    this.settle();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.fail(this.state === 'waiting' ? unconnected(error) : new BrokenReplyError(error));
  }

  private awaitPieces(): void {
    this.silenceLimit.restart(this.limits.idleMs);
  }

  /** All data that arrived since the last call, in one chunk. @throws the error that ended the exchange */
  async next(): Promise<IteratorResult<Buffer, undefined>> {
    for (;;) {
      if (this.chunks.length > 0) {
        const restMs = this.restOfInterval();
        if (restMs <= 0) return { done: false, value: this.take() };
        await this.pace(restMs);
        continue;
      }
      if (this.failure) throw this.failure;
      if (this.state === 'ended') return { done: true, value: undefined };
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** Called if the reader leaves early: aborts the exchange. */
  return(): Promise<IteratorResult<Buffer, undefined>> {
    if (!this.isReleased) this.abort(new Error('The reader of the reply went away.'));
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /**
   * Called after the reader has read all it needs: drains the rest, usually nothing, so that the connection can be
   * reused.
   */
  release(): void {
    this.isReleased = true;
    this.chunks.length = 0;
    this.limits.signal?.removeEventListener('abort', this.onAbort);
    if (this.controller?.paused) this.controller.resume();
  }

  private restOfInterval(): number {
    const { intervalMs = 0 } = this.limits;
    if (intervalMs === 0 || this.state === 'ended' || this.failure) return 0;
    return this.takenAt + intervalMs - performance.now();
  }

  /** Waits, at most until the reply ends. @param ms time in ms */
  private async pace(ms: number): Promise<void> {
    this.isPacing = true;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
    this.isPacing = false;
  }

  private take(): Buffer {
    if (this.limits.intervalMs) this.takenAt = performance.now();
    const [first, ...others] = this.chunks.splice(0);
    this.unread = 0;
    if (this.controller?.paused) this.controller.resume();
    return others.length === 0 ? first! : Buffer.concat([first!, ...others]);
  }

  private readonly onAbort = (): void => this.abort(new Error('The call was aborted.'));

  private readonly onSilence = (isLate: boolean): void => {
    // While the connection is paused, the provider cannot send.
    if (this.controller?.paused) return this.silenceLimit.restart();
    const { timeoutMs, idleMs = timeoutMs } = this.limits;
    const hadStarted = this.state === 'started';
    this.abort(new SilenceError(hadStarted ? idleMs : timeoutMs, hadStarted, suspensionOf(isLate)));
  };

  private readonly onLate = (isLate: boolean): void =>
    this.abort(new LateError(this.limits.totalMs!, suspensionOf(isLate)));

  private abort(failure: Error): void {
    if (this.state === 'ended' || this.failure) return;
    this.fail(failure);
    this.controller?.abort(failure);
  }

  private fail(failure: Error): void {
    if (this.failure) return;
    this.failure = failure;
    this.rejectHead(failure);
    this.settle();
  }

  private settle(): void {
    this.silenceLimit.clear();
    this.totalLimit?.clear();
    this.limits.signal?.removeEventListener('abort', this.onAbort);
    this.wake?.();
  }
}

function suspensionOf(isLate: boolean): SuspensionError | undefined {
  return isLate ? new SuspensionError() : undefined;
}

/** Not retried: another attempt would need the same memory. */
function heapExhausted(received: number): AppError {
  const message = `The server has no memory for the rest of the model's reply, of which ${received} bytes arrived; retry later.`;
  return new AppError('HEAP_EXHAUSTED', message);
}

function unconnected(error: Error): Error {
  return 'code' in error && error.code === 'UND_ERR_CONNECT_TIMEOUT' ? new LateConnectionError() : error;
}
