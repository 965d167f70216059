import { steadyNow } from '../../kernel/index.js';
import type { CallOptions } from '../chat/chat.types.js';
import { type EmbeddingModel, type EmbeddingResult, EmbeddingWrapper } from '../embedding-model.js';

/** Runs a call, rejects it or retries it. */
export type CallGuard = <T>(call: () => Promise<T>, options: CallOptions) => Promise<T>;

/** An embedding model behind guards: retries, circuit breaker and concurrency limit. */
export class GuardedEmbeddingModel extends EmbeddingWrapper {
  constructor(
    inner: EmbeddingModel,
    /** Innermost first. */
    private readonly guards: readonly CallGuard[],
    /** No retry starts later than this after the first attempt, in ms. */
    private readonly waitMs: number,
  ) {
    super(inner);
  }

  embed(texts: readonly string[], options: CallOptions = {}): Promise<EmbeddingResult> {
    const latest = steadyNow() + this.waitMs;
    const limited = { ...options, deadlineAt: Math.min(options.deadlineAt ?? latest, latest) };
    const guarded = this.guards.reduce<() => Promise<EmbeddingResult>>(
      (call, guard) => () => guard(call, limited),
      () => this.inner.embed(texts, limited),
    );
    return guarded();
  }
}
