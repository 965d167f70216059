import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart } from '../chat.types.js';
import type { ChatModel } from '../chat-model.js';
import type { CircuitBreaker } from './circuit-breaker.policy.js';
import { ModelWrapper } from './model.wrapper.js';

/** Rejects calls while the model's circuit is open. */
export class BreakingModel extends ModelWrapper {
  constructor(
    inner: ChatModel,
    /** Shared by all instances of the same model. */
    private readonly breaker: CircuitBreaker,
  ) {
    super(inner);
  }

  generate(request: ChatRequest, options?: CallOptions): Promise<ChatResult> {
    return this.breaker.run(() => this.inner.generate(request, options));
  }

  async *stream(request: ChatRequest, options?: CallOptions): AsyncGenerator<ChatStreamPart, void> {
    const isProbe = this.breaker.enter();
    let failure: unknown = null;
    let isWhole = false;
    try {
      for await (const part of this.inner.stream(request, options)) {
        isWhole ||= part.type === 'finish';
        if (isWhole) this.breaker.succeeded();
        yield part;
      }
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      // A reader that leaves early counts neither as success nor as failure.
      if (!isWhole) this.breaker.ended(failure, isProbe);
    }
  }
}
