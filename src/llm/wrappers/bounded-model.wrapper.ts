import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart } from '../chat.types.js';
import { type ChatModel, ModelWrapper } from '../chat-model.js';
import type { Bulkhead } from './bulkhead.policy.js';

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
