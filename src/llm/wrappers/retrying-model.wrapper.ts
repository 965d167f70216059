import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart } from '../chat.types.js';
import type { ChatModel } from '../chat-model.js';
import { ModelWrapper } from './model.wrapper.js';
import { beforeNext, retried, type Retries } from './retry.policy.js';

/** Retries failed calls; a stream with emitted parts restarts. */
export class RetryingModel extends ModelWrapper {
  constructor(
    inner: ChatModel,
    private readonly retries: Retries,
  ) {
    super(inner);
  }

  generate(request: ChatRequest, options: CallOptions = {}): Promise<ChatResult> {
    return retried(() => this.inner.generate(request, options), this.retries, options);
  }

  async *stream(request: ChatRequest, options: CallOptions = {}): AsyncGenerator<ChatStreamPart, void> {
    this.retries.budget.request();
    for (let attempt = 1; ; attempt++) {
      let hasShown = false;
      try {
        for await (const part of this.inner.stream(request, options)) {
          hasShown ||= part.type !== 'finish';
          yield part;
        }
        this.retries.budget.success();
        return;
      } catch (error) {
        await beforeNext(error, attempt, this.retries, options);
        if (hasShown) yield { type: 'restart' };
      }
    }
  }
}
