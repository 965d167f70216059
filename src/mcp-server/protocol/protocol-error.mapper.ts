import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { toAppError, type ErrorCode } from '../../errors/index.js';

/** Errors caused by the request itself. */
const INVALID: ReadonlySet<ErrorCode> = new Set([
  'VALIDATION_FAILED',
  'NOT_FOUND',
  'TOOL_NOT_FOUND',
  'TOOL_DISABLED',
  'TOOL_HELD',
  'AGENT_NOT_FOUND',
  'RUN_NOT_FOUND',
  'SESSION_NOT_FOUND',
]);
/** A JSON-RPC code from the server range: the request was understood but not executed. */
const REFUSED = -32_000;

/** Converts any error to a protocol error; an unknown error reveals no details. */
export function toProtocolError(thrown: unknown): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown;
  const { code, message, details } = toAppError(thrown);
  // The error of a missing resource has its URI only.
  const data = code === 'NOT_FOUND' && details?.['uri'] !== undefined ? details : { code, ...details };
  return new ProtocolError(numberOf(code), message, data);
}

function numberOf(code: ErrorCode): number {
  if (INVALID.has(code)) return ProtocolErrorCode.InvalidParams;
  return code === 'INTERNAL' ? ProtocolErrorCode.InternalError : REFUSED;
}
