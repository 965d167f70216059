import type { ErrorCode } from '../../errors/index.js';
import type { JsonValue } from '../../kernel/json/index.js';
import { MAX_IMAGES, parseImage } from '../../kernel/media/index.js';
import type { RunFile } from '../../run/files/index.js';
import { filesOf } from './result-files.builder.js';
import type { ShownText } from './illustrated-result.factory.js';
import type { ToolResult } from '../tool.types.js';
import { type JsonResult, toJsonResult } from './json-result.mapper.js';

/** Image fields of a result. */
export type ShownImages = Pick<Extract<ToolResult, { success: true }>, 'images' | 'images_left_out'>;

/**
 * Adds images to a result, each with the media type of its bytes. Images beyond the limits and invalid images are left
 * out; a failed result stays unchanged.
 * @param maxBytes maximum size of all data-URI images together, decoded
 */
export function illustrated<Call extends { readonly result: ToolResult }>(
  call: Call,
  images: readonly string[],
  maxBytes: number,
): Call {
  if (images.length === 0 || !call.result.success) return call;
  let bytes = 0;
  const shown: string[] = [];
  for (const url of images) {
    const image = parseImage(url);
    if (typeof image === 'string' || shown.length === MAX_IMAGES) continue;
    const added = image.kind === 'data' ? image.bytes : 0;
    if (bytes + added > maxBytes) continue;
    bytes += added;
    shown.push(image.url);
  }
  return { ...call, result: { ...call.result, ...toShown(shown, images.length - shown.length) } };
}

/** The image fields of a result, for its replacement. */
export function imagesOf(result: ToolResult): ShownImages {
  return result.success ? toShown(result.images ?? [], result.images_left_out ?? 0) : {};
}

function toShown(images: readonly string[], leftOut: number): ShownImages {
  return { ...(images.length > 0 && { images }), ...(leftOut > 0 && { images_left_out: leftOut }) };
}

const encoder = new TextEncoder();

/**
 * Truncates a text to `maxBytes` bytes of UTF-8, at a character boundary, and appends a mark. A shorter text stays
 * unchanged.
 */
export function cutText(text: string, maxBytes: number): string {
  // Fast path: a UTF-16 unit has at most 3 bytes of UTF-8.
  if (text.length * 3 <= maxBytes) return text;
  const total = Buffer.byteLength(text);
  if (total <= maxBytes) return text;
  const { read, written } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  return `${text.slice(0, read)}… [cut: ${written} of ${total} bytes shown]`;
}

/** Maximum stored size of a full result beside its truncated form, in bytes (UTF-8); all databases accept it. */
const MAX_WHOLE_BYTES = 4 * 1024 * 1024;

type FailedResult = Extract<ToolResult, { readonly success: false }>;

/** A result, and its full value if it was truncated. */
export interface SucceededCall {
  readonly result: ToolResult;
  readonly whole?: JsonValue;
  /** Binary content of the result. */
  readonly files?: readonly RunFile[];
}

/** Result of a call that failed or did not start. */
export function failedResult(tool: string, code: ErrorCode, error: string, elapsedMs = 0): FailedResult {
  return { tool, success: false, error, code, execution_time_ms: elapsedMs };
}

/** Error text for a tool name that is unknown in the run. */
export function unknownTool(name: string, tools: ReadonlyMap<string, unknown>): string {
  const available = tools.size > 0 ? `Available tools: ${[...tools.keys()].join(', ')}.` : 'No tools are available.';
  return `Unknown tool "${name}". ${available}`;
}

/** Result of a call that was cancelled while it waited for its turn. */
export function cancelledBeforeStart(tool: string): FailedResult {
  return failedResult(tool, 'TOOL_CANCELLED', 'Not executed: the call was cancelled before it started.');
}

/** Result of a successful call. A value above `maxBytes` (UTF-8) is truncated, and also returned in full. */
export function succeededCall(
  tool: string,
  { value, text }: Pick<JsonResult, 'value' | 'text'>,
  maxBytes: number,
  elapsedMs = 0,
): SucceededCall {
  const shortened = cutText(text, maxBytes);
  if (shortened === text) return { result: { tool, success: true, result: value, execution_time_ms: elapsedMs } };
  const result_bytes = Buffer.byteLength(text);
  return {
    result: { tool, success: true, result: shortened, result_bytes, execution_time_ms: elapsedMs },
    whole: result_bytes <= MAX_WHOLE_BYTES ? value : cutText(text, MAX_WHOLE_BYTES),
  };
}

/** Adds the text for the model. */
export function withShownText(call: SucceededCall, { note, text }: ShownText, maxBytes: number): SucceededCall {
  if (!call.result.success) return call;
  const shown = { ...(note !== undefined && { note }), ...(text !== undefined && { text: cutText(text, maxBytes) }) };
  return { ...call, result: { ...call.result, ...shown } };
}

/** Replaces the value of a result; a text for the model is dropped. */
export function withValue(result: ToolResult, value: JsonValue, maxBytes: number): SucceededCall {
  const call = succeededCall(result.tool, toJsonResult(value), maxBytes, result.execution_time_ms);
  return { ...call, result: { ...call.result, ...imagesOf(result), ...(result.success && filesOf(result)) } };
}

/** Result with a value provided by a person. @throws AppError `TOOL_FAILED` for a value that JSON cannot represent */
export function succeededResult(tool: string, returned: unknown, maxBytes: number): ToolResult {
  return succeededCall(tool, toJsonResult(returned), maxBytes).result;
}
