import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart } from '../chat.types.js';
import type { ChatModel } from '../chat-model.js';
import { ModelWrapper } from './model.wrapper.js';
import { pause } from './pause.policy.js';
import { mayRetry, retryDelay, type RetryRules } from './retry-delay.policy.js';

/** Asks again when a call failed that may come to another end; a stream that had begun begins anew. */
export class RetryingModel extends ModelWrapper {
  constructor(
    inner: ChatModel,
    private readonly rules: RetryRules,
  ) {
    super(inner);
  }

  async generate(request: ChatRequest, options: CallOptions = {}): Promise<ChatResult> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.inner.generate(request, options);
      } catch (error) {
        await this.beforeNext(error, attempt, options);
      }
    }
  }

  async *stream(request: ChatRequest, options: CallOptions = {}): AsyncGenerator<ChatStreamPart, void> {
    for (let attempt = 1; ; attempt++) {
      let hasShown = false;
      try {
        for await (const part of this.inner.stream(request, options)) {
          hasShown ||= part.type !== 'finish';
          yield part;
        }
        return;
      } catch (error) {
        await this.beforeNext(error, attempt, options);
        if (hasShown) yield { type: 'restart' };
      }
    }
  }

  /** Waits until it is time for the next attempt. @throws what the last one has thrown, when there is none */
  private async beforeNext(error: unknown, attempt: number, { signal, deadlineAt }: CallOptions): Promise<void> {
    if (attempt >= this.rules.maxAttempts || !mayRetry(error) || signal?.aborted) throw error;
    const delay = retryDelay(error, attempt, this.rules, Math.random());
    if (deadlineAt !== undefined && Date.now() + delay >= deadlineAt) throw error;
    await pause(delay, signal);
  }
}
