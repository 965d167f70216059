import { GEN_AI, type GenAiOperation, type MetricRegistry, noteOnSpan } from '../telemetry/index.js';
import type { ModelTrace, TracedCall } from './wrappers/traced-model.wrapper.js';

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
