import { AppError } from '../../common/index.js';
import { McpError, type McpErrorCode, toMcpError } from '../mcp.error.js';
import type { McpServer } from '../mcp-server.types.js';
import { AccessError } from './access.error.js';
import { STREAM_ENDED } from './request-streams-transport.js';
import { safeCause, withoutSecrets } from './secret.filter.js';

/** JSON-RPC and MCP codes with a specific meaning. */
const PROTOCOL_CODES: Readonly<Record<number, McpErrorCode>> = {
  [-32_002]: 'RESOURCE_NOT_FOUND',
  [-32_601]: 'TOOL_NOT_FOUND',
  [-32_602]: 'TOOL_EXECUTION_FAILED',
  [STREAM_ENDED]: 'NETWORK_ERROR',
};
/** The SDK's codes for a lost connection. */
const LOST = new Set(['NOT_CONNECTED', 'CONNECTION_CLOSED', 'SEND_FAILED']);
/** The SDK's errors for a missing or insufficient token. */
const REFUSALS =
  /^(OAuthError|InsufficientScopeError|IssuerMismatchError|AuthorizationServerMismatchError|InsecureTokenEndpointError|RegistrationRejectedError)$/;

interface Failure {
  readonly code?: unknown;
  readonly status?: unknown;
  readonly name?: unknown;
  readonly data?: { readonly text?: unknown };
}

/** Whether the error means that the connection is unusable. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof AppError) return error.code === 'OUTGOING_FAILED' && error.isRetryable;
  const { code } = error as Failure;
  return (typeof code === 'string' && LOST.has(code)) || isSessionUnknown(error as Failure);
}

/** Whether the server certainly did not process the request: there was no connection, or the session was unknown. */
export function isNotProcessed(error: unknown): boolean {
  return (error as Failure).code === 'NOT_CONNECTED' || isSessionUnknown(error as Failure);
}

/** An older server has lost the session: the specification says 404; the SDK's own example answers 400. */
function isSessionUnknown({ status, data }: Failure): boolean {
  return status === 404 || (status === 400 && /\bsession\b/i.test(String(data?.text)));
}

/** Whether a request timed out. */
export function isTimeout(error: unknown): boolean {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return code === 'REQUEST_TIMEOUT' || name === 'TimeoutError';
}

/**
 * Converts the failure of a request to an error.
 * @param fault why the connection ended, if it did
 */
export function toCallError(error: unknown, server: McpServer, fault?: string): AppError {
  if (error instanceof AppError) return error.code.startsWith('TOOL_') ? error : toMcpError(error);
  const { name } = server;
  const { code } = error as Failure;
  const details = { server: name };
  const because = { cause: safeCause(error, server) };
  if (isConnectionLost(error)) {
    const message = `MCP server "${name}" disconnected during the call${fault === undefined ? '' : `: ${fault}`}.`;
    return new McpError('NETWORK_ERROR', message, details, because);
  }
  const refusal = refusalOf(error, server);
  if (refusal !== undefined) {
    return new McpError('PERMISSION_DENIED', `MCP server "${name}": ${refusal}`, details, because);
  }
  const text = `MCP server "${name}": ${withoutSecrets(error, server)}`;
  if (isTimeout(error)) return new McpError('NETWORK_ERROR', text, details, because);
  const known = typeof code === 'number' ? PROTOCOL_CODES[code] : undefined;
  return new McpError(known ?? 'TOOL_EXECUTION_FAILED', text, details, because);
}

/** Converts the failure of a connection attempt; its message completes "it is not connected:". */
export function toConnectError(thrown: unknown, server: McpServer): McpError {
  const error = rootOf(thrown);
  if (error instanceof AppError) return toMcpError(error);
  const refusal = refusalOf(error, server);
  const code = refusal === undefined ? 'NETWORK_ERROR' : 'PERMISSION_DENIED';
  const cause = safeCause(error, server);
  return new McpError(code, refusal ?? withoutSecrets(error, server), { server: server.name }, { cause });
}

/** The message for a denied access; undefined for other errors. */
function refusalOf(error: unknown, server: McpServer): string | undefined {
  const { name, status } = error as Failure;
  const text = withoutSecrets(error, server);
  if (error instanceof AccessError || REFUSALS.test(String(name))) return text;
  if (status === 401 || name === 'UnauthorizedError') return unauthorized(server);
  return status === 403 ? `it refused the request (403): ${text}` : undefined;
}

/** The SDK wraps the error of its probe for the newest protocol. */
function rootOf(error: unknown): unknown {
  const { name, cause } = error as Failure & { readonly cause?: unknown };
  return name === 'SdkError' && cause instanceof Error ? cause : error;
}

function unauthorized({ transport }: McpServer): string {
  const auth = transport.kind === 'http' ? transport.auth : undefined;
  if (!auth) return 'it requires authentication (401): declare "auth" or a header for it';
  if (auth.type === 'provider') return 'it requires the consent of a user, which is missing';
  return 'it rejected the access token (401)';
}
