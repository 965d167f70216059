import type { Dispatcher } from 'undici';
import { BadReplyError, BrokenReplyError, LateConnectionError, LateError, SilenceError } from './wire-failure.error.js';

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
}

/** Options that an SDK passes on, with our limits. */
export type Limited<Options> = Options & { readonly limits: ExchangeLimits };

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
  private state: 'waiting' | 'started' | 'ended' = 'waiting';
  private failure?: Error;
  private isReleased = false;
  private wake?: () => void;
  private timer: NodeJS.Timeout;
  private readonly totalTimer?: NodeJS.Timeout;

  constructor(private readonly limits: ExchangeLimits) {
    this.head = new Promise((resolve, reject) => {
      this.resolveHead = resolve;
      this.rejectHead = reject;
    });
    this.timer = setTimeout(this.onSilence, limits.timeoutMs);
    if (limits.totalMs !== undefined) this.totalTimer = setTimeout(this.onLate, limits.totalMs);
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
    this.timer.refresh();
    this.chunks.push(chunk);
    this.unread += chunk.length;
    if (this.unread > MAX_UNREAD) controller.pause();
    this.wake?.();
  }

  onResponseEnd(): void {
    this.state = 'ended';
    this.settle();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.fail(this.state === 'waiting' ? unconnected(error) : new BrokenReplyError(error));
  }

  private awaitPieces(): void {
    const { timeoutMs, idleMs = timeoutMs } = this.limits;
    if (idleMs === timeoutMs) return void this.timer.refresh();
    clearTimeout(this.timer);
    this.timer = setTimeout(this.onSilence, idleMs);
  }

  /** The next chunk. @throws the error that ended the exchange */
  async next(): Promise<IteratorResult<Buffer, undefined>> {
    for (;;) {
      const chunk = this.chunks.shift();
      if (chunk) return { done: false, value: this.take(chunk) };
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

  private take(chunk: Buffer): Buffer {
    this.unread -= chunk.length;
    if (this.unread === 0 && this.controller?.paused) this.controller.resume();
    return chunk;
  }

  private readonly onAbort = (): void => this.abort(new Error('The call was aborted.'));

  private readonly onSilence = (): void => {
    // While the connection is paused, the provider cannot send.
    if (this.controller?.paused) this.timer.refresh();
    else this.abort(this.silence());
  };

  private readonly onLate = (): void => this.abort(new LateError(this.limits.totalMs!));

  private silence(): SilenceError {
    const { timeoutMs, idleMs = timeoutMs } = this.limits;
    const hadStarted = this.state === 'started';
    return new SilenceError(hadStarted ? idleMs : timeoutMs, hadStarted);
  }

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
    clearTimeout(this.timer);
    clearTimeout(this.totalTimer);
    this.limits.signal?.removeEventListener('abort', this.onAbort);
    this.wake?.();
  }
}

function unconnected(error: Error): Error {
  return 'code' in error && error.code === 'UND_ERR_CONNECT_TIMEOUT' ? new LateConnectionError() : error;
}
