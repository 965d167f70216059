import { AppError } from '../../errors/index.js';
import { McpError, type McpErrorCode, toMcpError } from '../mcp.error.js';
import type { McpServer } from '../mcp-server.types.js';
import { AccessError } from './access.error.js';
import { STREAM_ENDED } from './request-streams-transport.js';
import { hideSecrets, safeCause, withoutSecrets } from './secret.filter.js';

/** JSON-RPC and MCP codes with a specific meaning. */
const PROTOCOL_CODES: Readonly<Record<number, McpErrorCode>> = {
  [-32_002]: 'RESOURCE_NOT_FOUND',
  [-32_601]: 'TOOL_NOT_FOUND',
  [-32_602]: 'TOOL_EXECUTION_FAILED',
  [STREAM_ENDED]: 'NETWORK_ERROR',
};
/** JSON-RPC: method not found, invalid params, internal error. */
const REJECTIONS: ReadonlySet<unknown> = new Set([-32_601, -32_602, -32_603]);
/** The SDK's codes for a lost connection. */
const LOST = new Set(['NOT_CONNECTED', 'CONNECTION_CLOSED', 'SEND_FAILED']);
/** The SDK's errors for a missing or insufficient token. */
const REFUSALS =
  /^(OAuthError|InsufficientScopeError|IssuerMismatchError|AuthorizationServerMismatchError|InsecureTokenEndpointError|RegistrationRejectedError)$/;

/** Maximum length of a quoted body or challenge, in UTF-16 units. */
const MAX_QUOTE = 500;

interface Failure {
  readonly code?: unknown;
  readonly status?: unknown;
  readonly name?: unknown;
  readonly data?: { readonly text?: unknown };
  readonly challenge?: unknown;
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

/** An older server has lost the session: the specification says 404; others answer 410, or 400 with a reason. */
function isSessionUnknown({ status, data }: Failure): boolean {
  if (status === 404 || status === 410) return true;
  const text = typeof data?.text === 'string' ? data.text.trim() : '';
  return status === 400 && !isRequestRejected(text) && (text === '' || /session|initiali[sz]/i.test(text));
}

/** Whether the response is the JSON-RPC error of a server that has processed the request. */
function isRequestRejected(text: string): boolean {
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly code?: unknown } };
    return REJECTIONS.has(error?.code);
  } catch {
    return false;
  }
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
  if (error instanceof AppError) return isOfCaller(error) ? error : toMcpError(error);
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
  const text = `MCP server "${name}": ${textOf(error, server)}`;
  if (isTimeout(error)) return new McpError('NETWORK_ERROR', text, details, because);
  const known = typeof code === 'number' ? PROTOCOL_CODES[code] : undefined;
  return new McpError(known ?? 'TOOL_EXECUTION_FAILED', text, details, because);
}

/** Whether an error is about the request, so that its code stays. */
function isOfCaller({ code }: AppError): boolean {
  return code.startsWith('TOOL_') || code === 'VALIDATION_FAILED';
}

/** Converts the failure of a connection attempt; its message completes "it is not connected:". */
export function toConnectError(thrown: unknown, server: McpServer): McpError {
  const error = rootOf(thrown);
  if (error instanceof AppError) return toMcpError(error);
  const refusal = refusalOf(error, server);
  const code = refusal === undefined ? 'NETWORK_ERROR' : 'PERMISSION_DENIED';
  const cause = safeCause(error, server);
  return new McpError(code, refusal ?? textOf(error, server), { server: server.name }, { cause });
}

/** The message for a denied access; undefined for other errors. */
function refusalOf(error: unknown, server: McpServer): string | undefined {
  const { name, status } = error as Failure;
  if (error instanceof AccessError || REFUSALS.test(String(name))) return withoutSecrets(error, server);
  if (status === 401 || name === 'UnauthorizedError') return unauthorized(error as Failure, server);
  return status === 403 ? `it refused the request (403)${bodyOf(error as Failure, server)}` : undefined;
}

/** Status and body of an HTTP answer; the message of another error. */
function textOf(error: unknown, server: McpServer): string {
  const failure = error as Failure;
  const isHttp = typeof failure.status === 'number' && failure.status >= 400;
  return isHttp ? `HTTP ${String(failure.status)}${bodyOf(failure, server)}` : withoutSecrets(error, server);
}

/** Completes a sentence. */
function bodyOf({ data }: Failure, server: McpServer): string {
  const text = typeof data?.text === 'string' ? hideSecrets(data.text, server) : '';
  const body = text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_QUOTE);
  return body === '' ? '' : `: ${body}`;
}

/** The SDK wraps the error of its probe for the newest protocol. */
function rootOf(error: unknown): unknown {
  const { name, cause } = error as Failure & { readonly cause?: unknown };
  return name === 'SdkError' && cause instanceof Error ? cause : error;
}

function unauthorized(error: Failure, server: McpServer): string {
  const { transport } = server;
  const auth = transport.kind === 'http' ? transport.auth : undefined;
  if (auth) {
    const isPersons = auth.type === 'provider';
    return isPersons ? 'it requires the consent of a user, which is missing' : 'it rejected the access token (401)';
  }
  const { challenge } = error;
  const isGiven = typeof challenge === 'string';
  const header = isGiven ? `; WWW-Authenticate: ${hideSecrets(challenge, server).slice(0, MAX_QUOTE)}` : '';
  const ways = '{"type": "bearer", "token": …} or {"type": "client_credentials", "clientId": …, "clientSecret": …}';
  return `it requires authentication (401): declare "auth" as ${ways}, or a header for it${header}${bodyOf(error, server)}`;
}
