import type { Attributes, AttributeValue, Span } from './span.types.js';

/** `SpanKind` and `StatusCode` of opentelemetry/proto/trace/v1/trace.proto. */
const KINDS = { internal: 1, client: 3 } as const;
const STATUS_ERROR = 2;
/** The flags of a link say that the low byte has no more than the sampled bit, and whether its context is remote. */
const HAS_IS_REMOTE = 0x100;

/** The JSON of `ExportTraceServiceRequest`: ids as hex, 64-bit integers as decimal strings, enums as integers. */
export function toOtlp(spans: readonly Span[], resource: Attributes, version: string): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: toKeyValues(resource) },
        scopeSpans: [{ scope: { name: 'jackdaw', version }, spans: spans.map(toOtlpSpan) }],
      },
    ],
  });
}

function toOtlpSpan({ traceId, spanId, parentId, name, kind, startedAt, endedAt, attributes, error, links }: Span) {
  return {
    traceId,
    spanId,
    ...(parentId !== undefined && { parentSpanId: parentId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: toNanos(startedAt),
    endTimeUnixNano: toNanos(Math.max(startedAt, endedAt)),
    attributes: toKeyValues(attributes),
    ...(links && { links: links.map((link) => ({ ...link, flags: HAS_IS_REMOTE })) }),
    status: error === undefined ? {} : { code: STATUS_ERROR, message: error },
  };
}

function toNanos(ms: number): string {
  return `${Math.round(ms)}000000`;
}

function toKeyValues(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toAnyValue(value) }],
  );
}

function toAnyValue(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value.toWellFormed() };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value !== 'number') return { arrayValue: { values: value.map(toAnyValue) } };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
