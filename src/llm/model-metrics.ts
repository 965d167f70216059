import {
  ATTRIBUTES,
  currentSpan,
  GEN_AI,
  type GenAiOperation,
  type MetricRegistry,
  noteOnSpan,
  spanIdOf,
  type Tracing,
} from '../telemetry/index.js';
import type { ModelTrace, TracedCall } from './wrappers/traced-model.wrapper.js';

/** Counts and measures the calls of models, each attempt on its own, and sends spans of embeddings, which no journal has. */
export class ModelMetrics {
  private embeddings = 0;
  private readonly traces: Readonly<Record<GenAiOperation, ModelTrace>> = {
    chat: (call) => this.called('chat', call),
    embeddings: (call) => this.called('embeddings', call),
  };

  constructor(
    private readonly metrics: MetricRegistry,
    private readonly tracing: Tracing,
  ) {}

  /** The listener for the calls of a kind of model. */
  traceOf(operation: GenAiOperation): ModelTrace {
    return this.traces[operation];
  }

  retried(provider: string): void {
    this.metrics.count('jackdaw_model_retries_total', { provider });
  }

  private called(operation: GenAiOperation, call: TracedCall): void {
    const { provider, model, durationMs, firstPartMs, error } = call;
    if (operation === 'chat') noteOnSpan({ provider });
    else this.sendEmbedding(call);
    if (!this.metrics.isOn) return;
    const labels = { [GEN_AI.operation]: operation, [GEN_AI.provider]: provider, [GEN_AI.model]: model };
    this.metrics.observe(GEN_AI.clientDuration, durationMs / 1000, labels);
    if (firstPartMs !== undefined) this.metrics.observe(GEN_AI.timeToFirstChunk, firstPartMs / 1000, labels);
    if (error !== undefined) this.metrics.count('jackdaw_model_errors_total', { provider, code: error });
  }

  private sendEmbedding({ provider, model, startedAt, durationMs, result, error }: TracedCall): void {
    const parent = currentSpan();
    if (!parent?.isSampled) return;
    this.tracing.add({
      traceId: parent.traceId,
      spanId: spanIdOf(parent.spanId, `embeddings:${startedAt}:${this.embeddings++}`),
      parentId: parent.spanId,
      name: `embeddings ${model}`,
      kind: 'client',
      startedAt,
      endedAt: startedAt + durationMs,
      error,
      attributes: {
        [ATTRIBUTES.operation]: 'embeddings',
        [ATTRIBUTES.provider]: provider,
        [ATTRIBUTES.requestModel]: model,
        [ATTRIBUTES.inputTokens]: result?.usage?.promptTokens,
        [ATTRIBUTES.errorType]: error,
      },
    });
  }
}
