import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { toAppError, type ErrorCode } from '../../common/index.js';

/** What the request itself is to blame for. */
const INVALID: ReadonlySet<ErrorCode> = new Set([
  'VALIDATION_FAILED',
  'NOT_FOUND',
  'TOOL_NOT_FOUND',
  'TOOL_DISABLED',
  'AGENT_NOT_FOUND',
  'RUN_NOT_FOUND',
  'SESSION_NOT_FOUND',
]);
/** Of JSON-RPC's range for servers: understood, and not done. */
const REFUSED = -32_000;

/** Any error as the protocol tells it; what is not ours says nothing of its inside. */
export function toProtocolError(thrown: unknown): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown;
  const { code, message, details } = toAppError(thrown);
  // A resource that is not there is known by nothing but its address.
  const data = code === 'NOT_FOUND' && details?.['uri'] !== undefined ? details : { code, ...details };
  return new ProtocolError(numberOf(code), message, data);
}

function numberOf(code: ErrorCode): number {
  if (INVALID.has(code)) return ProtocolErrorCode.InvalidParams;
  return code === 'INTERNAL' ? ProtocolErrorCode.InternalError : REFUSED;
}
