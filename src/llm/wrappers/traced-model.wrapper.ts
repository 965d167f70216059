import { type ErrorCode, Log, messageOf, toAppError } from '../../errors/index.js';
import type { ChatModel } from '../chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart } from '../chat.types.js';
import { ModelWrapper } from './model.wrapper.js';

/** One finished call of a model, with its retries and fallbacks. */
export interface TracedCall {
  readonly provider: string;
  readonly model: string;
  readonly method: 'generate' | 'stream';
  /** Epoch ms. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** Time to the first part of a streamed reply, in ms; absent without one. */
  readonly firstPartMs?: number;
  /** The complete reply; absent if the call failed, or its caller left the stream. */
  readonly result?: ChatResult;
  /** Code of the error; absent without one. */
  readonly error?: ErrorCode;
}

type CallEnd = Pick<TracedCall, 'result' | 'error' | 'firstPartMs'>;

export type ModelTrace = (call: TracedCall) => void;

/** Reports every call to a listener. Errors of the listener are logged. */
export class TracedModel extends ModelWrapper {
  private readonly logger = new Log('ModelTrace');

  constructor(
    inner: ChatModel,
    private readonly trace: ModelTrace,
  ) {
    super(inner);
  }

  async generate(request: ChatRequest, options?: CallOptions): Promise<ChatResult> {
    const report = this.begin('generate');
    try {
      const result = await this.inner.generate(request, options);
      report({ result });
      return result;
    } catch (error) {
      report({ error: toAppError(error).code });
      throw error;
    }
  }

  async *stream(request: ChatRequest, options?: CallOptions): AsyncGenerator<ChatStreamPart, void> {
    const report = this.begin('stream');
    const from = performance.now();
    let first: Pick<TracedCall, 'firstPartMs'> | undefined;
    let end: CallEnd = {};
    try {
      for await (const part of this.inner.stream(request, options)) {
        first ??= { firstPartMs: performance.now() - from };
        if (part.type === 'finish') end = { ...first, result: part.result };
        yield part;
      }
    } catch (error) {
      end = { ...first, error: toAppError(error).code };
      throw error;
    } finally {
      report(end);
    }
  }

  private begin(method: TracedCall['method']): (end: CallEnd) => void {
    const { provider, name: model } = this;
    const startedAt = Date.now();
    const started = performance.now();
    return (end) => {
      try {
        this.trace({ provider, model, method, startedAt, durationMs: performance.now() - started, ...end });
      } catch (error) {
        this.logger.error(`The listener for model calls failed: ${messageOf(error)}`);
      }
    };
  }
}
