/** Metrics of the process for Prometheus: counters of the modules below the API, and values that are read at a scrape. */
export { GEN_AI, type GenAiOperation } from './gen-ai-names.js';
export { MetricRegistry, type MetricSource, type Sample } from './metric.registry.js';
export { METRICS, type MetricDefinition, type MetricName } from './metric-table.js';
export { METRICS_TYPE, MetricsListener } from './metrics-listener.js';
export { TelemetryModule } from './telemetry.module.js';
