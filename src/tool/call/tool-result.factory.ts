import type { ErrorCode } from '../../errors/index.js';
import type { JsonValue } from '../../kernel/index.js';
import type { RunFile } from '../../run/index.js';
import type { ShownText } from '../shown-result.js';
import type { ToolResult } from '../tool.types.js';
import { cutText } from './cut-text.mapper.js';
import { type JsonResult, toJsonResult } from './json-result.mapper.js';
import { filesOf } from '../files/result-file.mapper.js';
import { imagesOf } from './shown-image.policy.js';

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
