import type { TracingConfig } from '../tracing.js';
import type { MetricRegistry } from '../metric.registry.js';
import type { TracingParts, SourcesSettled } from '../tracing.js';
import { OtlpExporter } from './otlp-exporter.js';
import { isSampled } from './sampler.js';

export function createTracingParts(
  config: TracingConfig,
  metrics: MetricRegistry,
  settled: SourcesSettled,
): TracingParts {
  const exporter = new OtlpExporter(config, (spans, isExported) => {
    if (metrics.isOn)
      metrics.count('jackdaw_spans_total', { outcome: isExported ? 'exported' : 'dropped' }, spans.length);
    return settled(
      spans.flatMap(({ source }) => source ?? []),
      isExported,
    );
  });
  return {
    config,
    isSampled: (traceId, parent) => isSampled(config.sampler, traceId, parent),
    add: (span) => exporter.add(span),
    flush: () => exporter.flush(),
    close: (limitMs) => exporter.close(limitMs),
  };
}
