import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart } from '../chat.types.js';
import type { ChatModel } from '../chat-model.js';
import type { CircuitBreaker } from './circuit-breaker.policy.js';
import { ModelWrapper } from './model.wrapper.js';

/** Asks a model only while its circuit is closed. */
export class BreakingModel extends ModelWrapper {
  constructor(
    inner: ChatModel,
    /** Shared by all that ask the same model. */
    private readonly breaker: CircuitBreaker,
  ) {
    super(inner);
  }

  async generate(request: ChatRequest, options?: CallOptions): Promise<ChatResult> {
    const isProbe = this.breaker.enter();
    try {
      const result = await this.inner.generate(request, options);
      this.breaker.succeeded();
      return result;
    } catch (error) {
      this.breaker.ended(error, isProbe);
      throw error;
    }
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
      // A reader who goes away says nothing of the model either.
      if (!isWhole) this.breaker.ended(failure, isProbe);
    }
  }
}
