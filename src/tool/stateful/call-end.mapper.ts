import { cutText } from '../result/tool-result.factory.js';
import type { ToolResult } from '../tool.types.js';
import type { CallEnd } from './stored-state.types.js';

/** Maximum stored size of an error, in bytes. */
const MAX_ERROR_BYTES = 1000;

/** Outcome of a call for its context's history; the run stores the full result. */
export function toCallEnd(result: ToolResult): CallEnd {
  const detail = { elapsed_ms: result.execution_time_ms };
  if (result.success) return { kind: 'success', detail: { ...detail, result_type: typeOf(result.result) } };
  const error = cutText(result.error, MAX_ERROR_BYTES);
  return { kind: 'error', error, detail: { ...detail, code: result.code, error } };
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
