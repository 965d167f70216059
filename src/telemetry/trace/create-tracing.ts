import type { MetricRegistry } from '../metric.registry.js';
import type { TraceParent } from '../trace-context.js';
import type { SourcesSettled, TracingConfig, TracingParts } from '../tracing.js';
import { OtlpExporter } from './otlp-exporter.js';

/** Whether the spans of a trace are sent: the same in each process. */
export function isSampled(
  { name, ratio }: TracingConfig['sampler'],
  traceId: string,
  parent?: Pick<TraceParent, 'isSampled'>,
): boolean {
  switch (name) {
    case 'always_on':
      return true;
    case 'always_off':
      return false;
    case 'traceidratio':
      return isInRatio(traceId, ratio);
    case 'parentbased_always_on':
      return parent?.isSampled ?? true;
    case 'parentbased_always_off':
      return parent?.isSampled ?? false;
    case 'parentbased_traceidratio':
      return parent?.isSampled ?? isInRatio(traceId, ratio);
  }
}

const BITS = 56;

/** The last 56 bits of the id count, which W3C Trace Context Level 2 defines as random. */
function isInRatio(traceId: string, ratio: number): boolean {
  return Number.parseInt(traceId.slice(-BITS / 4), 16) < ratio * 2 ** BITS;
}

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
