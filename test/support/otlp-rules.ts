import { z } from 'zod';

/*
 * The rules of OTLP/JSON for traces, strict: a member that the protocol does not have is an error.
 * - https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding: ids are hex strings, keys are lowerCamelCase, enums
 *   are integers (names are not allowed), 64-bit integers are decimal strings (protobuf's JSON mapping).
 * - https://github.com/open-telemetry/opentelemetry-proto: collector/trace/v1/trace_service.proto, trace/v1/trace.proto,
 *   common/v1/common.proto, resource/v1/resource.proto.
 */

const isNotZero = (id: string) => !/^0+$/.test(id);
const traceId = z
  .string()
  .regex(/^[\da-f]{32}$/)
  .refine(isNotZero);
const spanId = z
  .string()
  .regex(/^[\da-f]{16}$/)
  .refine(isNotZero);
/** 64-bit integers. */
const fixed64 = z
  .string()
  .regex(/^\d{1,20}$/)
  .refine((text) => BigInt(text) < 2n ** 64n);
const int64 = z.string().regex(/^-?\d{1,19}$/);
const uint32 = z.int().min(0).max(0xff_ff_ff_ff);

/** `AnyValue`: exactly one of its members. */
const anyValue: z.ZodType = z.lazy(() =>
  z.union([
    z.strictObject({ stringValue: z.string() }),
    z.strictObject({ boolValue: z.boolean() }),
    z.strictObject({ intValue: int64 }),
    z.strictObject({ doubleValue: z.number() }),
    z.strictObject({ arrayValue: z.strictObject({ values: z.array(anyValue) }) }),
    z.strictObject({ kvlistValue: z.strictObject({ values: attributes }) }),
    z.strictObject({ bytesValue: z.base64() }),
  ]),
);
const keyValue = z.strictObject({ key: z.string().min(1), value: anyValue });
/** Keys are unique. */
const attributes = z
  .array(keyValue)
  .refine((all) => new Set(all.map(({ key }) => key)).size === all.length, 'a key occurs twice');

/** `SpanKind`: INTERNAL, SERVER, CLIENT, PRODUCER, CONSUMER. */
const spanKind = z.int().min(1).max(5);
/** `StatusCode`: UNSET, OK, ERROR; a message only with an error. */
const status = z
  .strictObject({ code: z.int().min(0).max(2).optional(), message: z.string().optional() })
  .refine(({ code, message }) => code === 2 || message === undefined, 'a message without an error');

const span = z
  .strictObject({
    traceId,
    spanId,
    parentSpanId: spanId.optional(),
    traceState: z.string().optional(),
    flags: uint32.optional(),
    name: z.string().min(1),
    kind: spanKind,
    startTimeUnixNano: fixed64,
    endTimeUnixNano: fixed64,
    attributes,
    droppedAttributesCount: uint32.optional(),
    events: z
      .array(z.strictObject({ timeUnixNano: fixed64, name: z.string().min(1), attributes: attributes.optional() }))
      .optional(),
    links: z
      .array(z.strictObject({ traceId, spanId, flags: uint32.optional(), attributes: attributes.optional() }))
      .optional(),
    status,
  })
  .refine(
    ({ startTimeUnixNano, endTimeUnixNano }) => BigInt(startTimeUnixNano) <= BigInt(endTimeUnixNano),
    'it ends before it starts',
  )
  .refine((one) => one.parentSpanId !== one.spanId, 'it is its own parent');

const exportRequest = z.strictObject({
  resourceSpans: z
    .array(
      z.strictObject({
        resource: z.strictObject({ attributes }),
        scopeSpans: z
          .array(
            z.strictObject({
              scope: z.strictObject({ name: z.string().min(1), version: z.string().optional() }),
              spans: z.array(span).min(1),
              schemaUrl: z.string().optional(),
            }),
          )
          .min(1),
        schemaUrl: z.string().optional(),
      }),
    )
    .min(1),
});

export type ExportRequest = z.output<typeof exportRequest>;
export type OtlpSpan = z.output<typeof span>;

/** @throws ZodError for a body that breaks a rule */
export function checkOtlp(body: unknown): ExportRequest {
  return exportRequest.parse(body);
}
