/** Metrics of the process for Prometheus, and traces for OpenTelemetry: what modules count, and the spans of their work. */
export { ATTRIBUTES, GEN_AI, type GenAiOperation } from './gen-ai-names.js';
export { MetricRegistry, type MetricSource, type Sample } from './metric.registry.js';
export { METRICS, type MetricDefinition, type MetricName } from './metric-table.js';
export { METRICS_TYPE, MetricsListener } from './metrics-listener.js';
export { TelemetryModule } from './telemetry.module.js';
export {
  currentTraceParent,
  noteOnSpan,
  outgoingTraceParent,
  parseTraceParent,
  spanIdOf,
  type SpanFacts,
  traceIdOf,
  type TraceParent,
  withSpan,
  withTraceParent,
} from './trace-context.js';
export { withHostSpan } from './host-span.js';
export type { Attributes, Span, SpanSource } from './trace/span.types.js';
export { Tracing } from './tracing.js';
