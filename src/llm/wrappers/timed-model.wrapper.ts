import { AppError } from '../../common/index.js';
import type { ChatModel } from '../chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart } from '../chat.types.js';
import { ModelWrapper } from './model.wrapper.js';

/** Gives up a call that takes too long in all, however busy it looks. */
export class TimedModel extends ModelWrapper {
  constructor(
    inner: ChatModel,
    /** In ms. */
    private readonly totalMs: number,
  ) {
    super(inner);
  }

  async generate(request: ChatRequest, options: CallOptions = {}): Promise<ChatResult> {
    const time = this.start(options);
    try {
      return await this.inner.generate(request, time.options);
    } finally {
      time.stop();
    }
  }

  async *stream(request: ChatRequest, options: CallOptions = {}): AsyncGenerator<ChatStreamPart, void> {
    const time = this.start(options);
    try {
      yield* this.inner.stream(request, time.options);
    } finally {
      time.stop();
    }
  }

  private start({ signal, ...options }: CallOptions): { readonly options: CallOptions; readonly stop: () => void } {
    const controller = new AbortController();
    const giveUp = () => controller.abort(signal?.reason);
    const timer = setTimeout(() => controller.abort(this.late()), this.totalMs);
    if (signal?.aborted) giveUp();
    signal?.addEventListener('abort', giveUp, { once: true });
    const stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
    };
    return { options: { ...options, signal: controller.signal }, stop };
  }

  private late(): AppError {
    const { provider, name: model, totalMs } = this;
    const message = `The provider ${provider} (model ${model}) took longer than ${totalMs} ms; try again, or raise LLM_TOTAL_TIMEOUT_MS.`;
    return new AppError('MODEL_TIMEOUT', message, { isRetryable: true, details: { provider, model } });
  }
}
