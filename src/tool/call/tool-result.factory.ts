import type { ErrorCode } from '../../common/index.js';
import type { ToolResult } from '../tool.types.js';
import { cutText } from './cut-text.mapper.js';
import { toJsonResult } from './json-result.mapper.js';

/** A call that failed, or was never made. */
export function failedResult(tool: string, code: ErrorCode, error: string, elapsedMs = 0): ToolResult {
  return { tool, success: false, error, code, execution_time_ms: elapsedMs };
}

/**
 * A call that succeeded with a value; of a long one `maxBytes` (UTF-8) are kept. Throws `TOOL_FAILED` for what JSON
 * cannot hold.
 */
export function succeededResult(tool: string, returned: unknown, maxBytes: number, elapsedMs = 0): ToolResult {
  const { value, text } = toJsonResult(returned);
  const kept = cutText(text, maxBytes);
  return { tool, success: true, result: kept === text ? value : kept, execution_time_ms: elapsedMs };
}
