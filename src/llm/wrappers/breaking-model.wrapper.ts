import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart } from '../chat.types.js';
import type { ChatModel } from '../chat-model.js';
import type { CircuitBreaker } from './circuit-breaker.policy.js';
import { ModelWrapper } from './model.wrapper.js';

/** Rejects requests while the model's circuit is open. Retries are inside: those under way are not cut. */
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
    // A reader that leaves early counts neither as success nor as failure.
    let outcome: unknown = null;
    try {
      for await (const part of this.inner.stream(request, options)) {
        if (part.type === 'finish') outcome = undefined;
        yield part;
      }
    } catch (error) {
      outcome = error;
      throw error;
    } finally {
      this.breaker.ended(isProbe, outcome);
    }
  }
}
