import { hash } from 'node:crypto';
import { canonicalJson, type JsonValue } from '../../kernel/json/index.js';
import type { ChatRequest } from '../chat/chat.types.js';

/** A request as a cassette stores it: without secrets, ids and times. */
export interface RecordedRequest extends ChatRequest {
  /** `provider:model` */
  readonly model: string;
}

/** Texts that differ in each execution: UUIDs and ids of Jackdaw, times in ISO 8601, and times in ms since the epoch. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi, '<uuid>'],
  [/(?<![\w-])(?=[\w-]*\d)[\w-]{31}(?![\w-])/g, '<id>'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g, '<time>'],
  [/\b1\d{12}\b/g, '<ms>'],
];

type TextMask = (text: string) => string;

/**
 * @param mask masks secrets
 * @param further is applied to the masked texts
 */
export function toRecordedRequest(
  model: string,
  request: ChatRequest,
  mask: TextMask,
  further?: TextMask,
): RecordedRequest {
  // Messages of a history have the time at which they were stored.
  const messages = request.messages.map((message) => ({ ...message, at: undefined }));
  return { model, ...(normalise(toJson({ ...request, messages }), mask, further) as unknown as ChatRequest) };
}

/** Masks secrets, and all that differs in each execution. */
export function normalise(value: JsonValue, mask: TextMask, further: TextMask = (text) => text): JsonValue {
  const change = (text: string) =>
    further(VARYING.reduce((rest, [pattern, name]) => rest.replaceAll(pattern, name), mask(text)));
  return changeTexts(value, change);
}

/** The key of a request: SHA-256 in hex. */
export function keyOf(request: RecordedRequest): string {
  return hash('sha256', canonicalJson(request));
}

/** As JSON; `null` for `undefined`. */
export function toJson(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value ?? null)) as JsonValue;
}

function changeTexts(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one: JsonValue) => changeTexts(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, changeTexts(one as JsonValue, change)]));
}
