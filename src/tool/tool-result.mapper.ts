import type { ToolResult } from './tool.types.js';

/** What the model reads of a result: a string as it is, another value as JSON, a failure as `Error: …`. */
export function toolResultText(result: ToolResult): string {
  if (!result.success) return `Error: ${result.error}`;
  return typeof result.result === 'string' ? result.result : JSON.stringify(result.result);
}
