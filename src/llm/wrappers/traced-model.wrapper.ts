import { type ErrorCode, Log, messageOf, toAppError } from '../../errors/index.js';
import { GEN_AI, type GenAiOperation, type MetricRegistry, noteOnSpan } from '../../telemetry/index.js';
import { type ChatModel, ModelWrapper } from '../chat/chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart } from '../chat/chat.types.js';

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

/** Counts and measures the calls of models, each attempt on its own, and adds the provider to the span of a step. */
export class ModelMetrics {
  private readonly traces: Readonly<Record<GenAiOperation, ModelTrace>> = {
    chat: (call) => this.called('chat', call),
    embeddings: (call) => this.called('embeddings', call),
  };

  constructor(private readonly metrics: MetricRegistry) {}

  /** The listener for the calls of a kind of model. */
  traceOf(operation: GenAiOperation): ModelTrace {
    return this.traces[operation];
  }

  retried(provider: string): void {
    this.metrics.count('jackdaw_model_retries_total', { provider });
  }

  private called(operation: GenAiOperation, { provider, model, durationMs, firstPartMs, error }: TracedCall): void {
    if (operation === 'chat') noteOnSpan({ provider });
    if (!this.metrics.isOn) return;
    const labels = { [GEN_AI.operation]: operation, [GEN_AI.provider]: provider, [GEN_AI.model]: model };
    this.metrics.observe(GEN_AI.clientDuration, durationMs / 1000, labels);
    if (firstPartMs !== undefined) this.metrics.observe(GEN_AI.timeToFirstChunk, firstPartMs / 1000, labels);
    if (error !== undefined) this.metrics.count('jackdaw_model_errors_total', { provider, code: error });
  }
}
