import type { ErrorCode, JsonValue } from '../../common/index.js';
import type { ToolResult } from '../tool.types.js';
import { cutText } from './cut-text.mapper.js';
import { type JsonResult, toJsonResult } from './json-result.mapper.js';
import { imagesOf } from './shown-image.policy.js';

/** The most of a result that is kept beside what the model is given of it, in bytes (UTF-8): what every database takes. */
const MAX_WHOLE_BYTES = 4 * 1024 * 1024;

type FailedResult = Extract<ToolResult, { readonly success: false }>;

/** A result, and what it was before it was cut, if it was. */
export interface SucceededCall {
  readonly result: ToolResult;
  readonly whole?: JsonValue;
}

/** A call that failed, or was never made. */
export function failedResult(tool: string, code: ErrorCode, error: string, elapsedMs = 0): FailedResult {
  return { tool, success: false, error, code, execution_time_ms: elapsedMs };
}

/** The error text for a name that is not among the tools of the run. */
export function unknownTool(name: string, tools: ReadonlyMap<string, unknown>): string {
  const available = tools.size > 0 ? `Available tools: ${[...tools.keys()].join(', ')}.` : 'No tools are available.';
  return `Unknown tool "${name}". ${available}`;
}

/** A call that was cancelled while it waited for its turn. */
export function cancelledBeforeStart(tool: string): FailedResult {
  return failedResult(tool, 'TOOL_CANCELLED', 'Not executed: the call was cancelled before it started.');
}

/** A call that succeeded with a value; a long one is cut to `maxBytes` (UTF-8), and then given whole, too. */
export function succeededCall(
  tool: string,
  { value, text }: JsonResult,
  maxBytes: number,
  elapsedMs = 0,
): SucceededCall {
  const kept = cutText(text, maxBytes);
  if (kept === text) return { result: { tool, success: true, result: value, execution_time_ms: elapsedMs } };
  const result_bytes = Buffer.byteLength(text);
  return {
    result: { tool, success: true, result: kept, result_bytes, execution_time_ms: elapsedMs },
    whole: result_bytes <= MAX_WHOLE_BYTES ? value : cutText(text, MAX_WHOLE_BYTES),
  };
}

/** A result with another value in the place of its own. */
export function withValue(result: ToolResult, value: JsonValue, maxBytes: number): SucceededCall {
  const call = succeededCall(result.tool, toJsonResult(value), maxBytes, result.execution_time_ms);
  return { ...call, result: { ...call.result, ...imagesOf(result) } };
}

/** What is given for a call's value by somebody else. Throws `TOOL_FAILED` for what JSON cannot hold. */
export function succeededResult(tool: string, given: unknown, maxBytes: number): ToolResult {
  return succeededCall(tool, toJsonResult(given), maxBytes).result;
}
