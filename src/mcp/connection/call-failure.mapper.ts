import { AppError, messageOf } from '../../common/index.js';
import { McpError, type McpErrorCode, toMcpError } from '../mcp.error.js';
import type { McpServer } from '../mcp-server.types.js';

/** Of JSON-RPC and MCP, those that say more than that something failed. */
const PROTOCOL_CODES: Readonly<Record<number, McpErrorCode>> = {
  [-32_002]: 'RESOURCE_NOT_FOUND',
  [-32_601]: 'TOOL_NOT_FOUND',
  [-32_602]: 'TOOL_EXECUTION_FAILED',
};
/** The SDK's words for a connection that is no more. */
const LOST = new Set(['NOT_CONNECTED', 'CONNECTION_CLOSED', 'SEND_FAILED']);
const REFUSED = new Set([401, 403]);

interface Failure {
  readonly code?: unknown;
  readonly status?: unknown;
  readonly data?: { readonly text?: unknown };
}

/** Whether a connection that failed so is of no more use. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof AppError) return error.code === 'OUTGOING_FAILED' && error.isRetryable;
  const { code } = error as Failure;
  return (typeof code === 'string' && LOST.has(code)) || isSessionUnknown(error as Failure);
}

/** An older server has forgotten the session: the specification says 404, and the SDK's own example answered 400. */
function isSessionUnknown({ status, data }: Failure): boolean {
  return status === 404 || (status === 400 && /\bsession\b/i.test(String(data?.text)));
}

/**
 * What a request to a server failed for.
 * @param fault why the connection ended, if it did
 */
export function toCallError(error: unknown, { name }: McpServer, fault?: string): AppError {
  if (error instanceof AppError) return error.code.startsWith('TOOL_') ? error : toMcpError(error);
  const { code, status } = error as Failure;
  const said = `MCP server "${name}": ${messageOf(error)}`;
  const details = { server: name };
  if (isConnectionLost(error)) {
    const message = `MCP server "${name}" went away during the call${fault === undefined ? '' : `: ${fault}`}.`;
    return new McpError('NETWORK_ERROR', message, details, { cause: error });
  }
  if (REFUSED.has(status as number)) return new McpError('PERMISSION_DENIED', said, details, { cause: error });
  if (code === 'REQUEST_TIMEOUT') return new McpError('NETWORK_ERROR', said, details, { cause: error });
  const known = typeof code === 'number' ? PROTOCOL_CODES[code] : undefined;
  return new McpError(known ?? 'TOOL_EXECUTION_FAILED', said, details, { cause: error });
}
