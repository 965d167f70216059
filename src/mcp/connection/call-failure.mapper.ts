import { AppError } from '../../common/index.js';
import { McpError, type McpErrorCode, toMcpError } from '../mcp.error.js';
import type { McpServer } from '../mcp-server.types.js';
import { AccessError } from './access.error.js';
import { STREAM_ENDED } from './request-streams-transport.js';
import { safeCause, withoutSecrets } from './secret.filter.js';

/** Of JSON-RPC and MCP, those that say more than that something failed. */
const PROTOCOL_CODES: Readonly<Record<number, McpErrorCode>> = {
  [-32_002]: 'RESOURCE_NOT_FOUND',
  [-32_601]: 'TOOL_NOT_FOUND',
  [-32_602]: 'TOOL_EXECUTION_FAILED',
  [STREAM_ENDED]: 'NETWORK_ERROR',
};
/** The SDK's words for a connection that is no more. */
const LOST = new Set(['NOT_CONNECTED', 'CONNECTION_CLOSED', 'SEND_FAILED']);
/** The SDK's errors that say why a token was not got, or is not enough. */
const REFUSALS =
  /^(OAuthError|InsufficientScopeError|IssuerMismatchError|AuthorizationServerMismatchError|InsecureTokenEndpointError|RegistrationRejectedError)$/;

interface Failure {
  readonly code?: unknown;
  readonly status?: unknown;
  readonly name?: unknown;
  readonly data?: { readonly text?: unknown };
}

/** Whether a connection that failed so is of no more use. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof AppError) return error.code === 'OUTGOING_FAILED' && error.isRetryable;
  const { code } = error as Failure;
  return (typeof code === 'string' && LOST.has(code)) || isSessionUnknown(error as Failure);
}

/** Whether a request that failed so surely was not taken: there was no connection, or the server did not know it. */
export function isNotTaken(error: unknown): boolean {
  return (error as Failure).code === 'NOT_CONNECTED' || isSessionUnknown(error as Failure);
}

/** An older server has forgotten the session: the specification says 404, and the SDK's own example answered 400. */
function isSessionUnknown({ status, data }: Failure): boolean {
  return status === 404 || (status === 400 && /\bsession\b/i.test(String(data?.text)));
}

/** Whether a request was given up because nobody answered it. */
export function isTimeout(error: unknown): boolean {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return code === 'REQUEST_TIMEOUT' || name === 'TimeoutError';
}

/**
 * What a request to a server failed for.
 * @param fault why the connection ended, if it did
 */
export function toCallError(error: unknown, server: McpServer, fault?: string): AppError {
  if (error instanceof AppError) return error.code.startsWith('TOOL_') ? error : toMcpError(error);
  const { name } = server;
  const { code } = error as Failure;
  const details = { server: name };
  const because = { cause: safeCause(error, server) };
  if (isConnectionLost(error)) {
    const message = `MCP server "${name}" went away during the call${fault === undefined ? '' : `: ${fault}`}.`;
    return new McpError('NETWORK_ERROR', message, details, because);
  }
  const refusal = refusalOf(error, server);
  if (refusal !== undefined) {
    return new McpError('PERMISSION_DENIED', `MCP server "${name}": ${refusal}`, details, because);
  }
  const said = `MCP server "${name}": ${withoutSecrets(error, server)}`;
  if (isTimeout(error)) return new McpError('NETWORK_ERROR', said, details, because);
  const known = typeof code === 'number' ? PROTOCOL_CODES[code] : undefined;
  return new McpError(known ?? 'TOOL_EXECUTION_FAILED', said, details, because);
}

/** Why a server could not be connected to; its message completes "it is not connected:". */
export function toConnectError(thrown: unknown, server: McpServer): McpError {
  const error = rootOf(thrown);
  if (error instanceof AppError) return toMcpError(error);
  const refusal = refusalOf(error, server);
  const code = refusal === undefined ? 'NETWORK_ERROR' : 'PERMISSION_DENIED';
  const cause = safeCause(error, server);
  return new McpError(code, refusal ?? withoutSecrets(error, server), { server: server.name }, { cause });
}

/** Why nobody lets us in, if that is what went wrong. */
function refusalOf(error: unknown, server: McpServer): string | undefined {
  const { name, status } = error as Failure;
  const said = withoutSecrets(error, server);
  if (error instanceof AccessError || REFUSALS.test(String(name))) return said;
  if (status === 401 || name === 'UnauthorizedError') return unauthorized(server);
  return status === 403 ? `it refuses what is asked (403): ${said}` : undefined;
}

/** The SDK wraps what went wrong when it asked for the newest protocol. */
function rootOf(error: unknown): unknown {
  const { name, cause } = error as Failure & { readonly cause?: unknown };
  return name === 'SdkError' && cause instanceof Error ? cause : error;
}

function unauthorized({ transport }: McpServer): string {
  const auth = transport.kind === 'http' ? transport.auth : undefined;
  if (!auth) return 'it wants to know who calls (401): declare "auth" for it, or a header';
  if (auth.type === 'provider') return 'it wants a consent that it has not got';
  return 'it lets nobody in with the token that it is given (401)';
}
