import { AppError } from '../../errors/index.js';
import { Semaphore } from '../../kernel/index.js';
import { type ChatModel, ModelWrapper } from '../chat/chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart } from '../chat/chat.types.js';

export interface BulkheadRules {
  /** Maximum concurrent calls; 0 is unlimited. */
  readonly concurrency: number;
  /** Maximum queued calls. */
  readonly queueLimit: number;
}

/** Isolates providers: limits concurrent and queued calls, so that one slow provider does not block others. */
export class Bulkhead {
  private readonly places: Semaphore;

  constructor(
    private readonly rules: BulkheadRules,
    /** Name in error messages. */
    private readonly what: string,
  ) {
    this.places = new Semaphore(rules.concurrency || Infinity);
  }

  /**
   * Acquires a place; the caller must `leave()` it.
   * @returns `null` if a place was free
   * @throws AppError `MODEL_BUSY` if the queue is full; the signal's reason if it is aborted
   */
  enter(signal?: AbortSignal): Promise<void> | null {
    signal?.throwIfAborted();
    if (this.places.tryEnter()) return null;
    const { takenPlaces, waiters } = this.places;
    if (waiters >= this.rules.queueLimit) {
      const message = `${this.what} has ${takenPlaces} calls and ${waiters} that wait, as many as it may; try again later.`;
      throw new AppError('MODEL_BUSY', message, { isRetryable: true });
    }
    return this.places.enter(signal);
  }

  /** Runs a call in a place. @throws as `enter`, and the call's error */
  async run<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const turn = this.enter(signal);
    if (turn) await turn;
    try {
      return await call();
    } finally {
      this.leave();
    }
  }

  /** Passes the place to the call that has waited longest. */
  leave(): void {
    this.places.leave();
  }
}

/** Limits concurrent calls of a provider. */
export class BoundedModel extends ModelWrapper {
  constructor(
    inner: ChatModel,
    /** Shared by all models of a provider. */
    private readonly bulkhead: Bulkhead,
  ) {
    super(inner);
  }

  generate(request: ChatRequest, options: CallOptions = {}): Promise<ChatResult> {
    return this.bulkhead.run(() => this.inner.generate(request, options), options.signal);
  }

  async *stream(request: ChatRequest, options: CallOptions = {}): AsyncGenerator<ChatStreamPart, void> {
    await this.bulkhead.enter(options.signal);
    try {
      yield* this.inner.stream(request, options);
    } finally {
      this.bulkhead.leave();
    }
  }
}
