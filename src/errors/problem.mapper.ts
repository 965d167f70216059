import { HttpException } from '@nestjs/common';
import { STATUS_CODES } from 'node:http';
import { AppError, messageOf, toAppError } from './app.error.js';
import type { ErrorCode } from './error-code.types.js';
import type { Problem } from './problem.types.js';

/** The only table of the HTTP statuses of error codes. */
const STATUS: Record<ErrorCode, number> = {
  VALIDATION_FAILED: 400,
  MALFORMED_JSON: 400,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  REQUEST_TIMEOUT: 408,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_REFUSED: 400,
  AGENT_NOT_FOUND: 404,
  AGENT_INVALID: 500,
  AGENT_DEPTH_EXCEEDED: 422,
  WORKFLOW_NOT_FOUND: 404,
  WORKFLOW_INVALID: 500,
  NODE_OUTPUT_TOO_LARGE: 500,
  SESSION_NOT_FOUND: 404,
  SESSION_BUSY: 409,
  SESSION_EXISTS: 409,
  SESSION_FILE_DAMAGED: 500,
  MEMORY_FAILED: 503,
  MEMORY_POLICY_INVALID: 500,
  EXTENSION_INVALID: 500,
  RUN_NOT_FOUND: 404,
  KEY_NOT_FOUND: 404,
  RUN_PRUNED: 410,
  IDEMPOTENCY_KEY_REUSED: 422,
  TENANT_QUEUE_FULL: 429,
  RUN_QUEUE_FULL: 503,
  RUN_RATE_LIMITED: 429,
  RUN_NOT_CANCELLABLE: 409,
  RUN_NOT_WAITING: 409,
  RUN_WAITING: 409,
  RUN_TIMEOUT: 504,
  ITERATION_LIMIT: 422,
  RUN_CANCELLED: 409,
  RUN_FENCED: 503,
  JOURNAL_UNAVAILABLE: 503,
  RUN_VERSION_UNSUPPORTED: 409,
  RUN_POISONED: 500,
  STEP_CONFLICT: 500,
  TOOL_DUPLICATE: 500,
  TOOL_INVALID: 500,
  TOOL_NOT_FOUND: 404,
  TOOL_INVALID_ARGUMENTS: 400,
  TOOL_FAILED: 500,
  TOOL_INVALID_RESULT: 500,
  TOOL_TIMEOUT: 504,
  TOOL_CANCELLED: 409,
  TOOL_OUTCOME_UNKNOWN: 409,
  TOOL_DENIED: 403,
  TOOL_EXPIRED: 409,
  TOOL_RATE_LIMITED: 429,
  TOOL_RESULT_BLOCKED: 409,
  INPUT_BLOCKED: 422,
  TOOL_DISABLED: 409,
  TOOL_HELD: 409,
  TOOL_STATE_NOT_FOUND: 404,
  TOOL_STATE_TOO_LARGE: 413,
  TOOL_STATE_CONFLICT: 409,
  TOOL_STATE_LIMIT: 409,
  TOOL_STATE_UNAVAILABLE: 503,
  MODEL_CANNOT_SEE: 422,
  MODEL_CANNOT_FORMAT: 422,
  MODEL_TOO_MANY_TOOLS: 422,
  MODEL_NOT_ALLOWED: 403,
  MODEL_AUTHENTICATION: 502,
  MODEL_RATE_LIMITED: 503,
  MODEL_TIMEOUT: 504,
  MODEL_UNREACHABLE: 502,
  MODEL_UNAVAILABLE: 502,
  MODEL_REFUSED: 502,
  MODEL_BAD_REPLY: 502,
  MODEL_CIRCUIT_OPEN: 503,
  MODEL_BUSY: 503,
  BUDGET_EXCEEDED: 429,
  BUDGET_IN_USE: 409,
  OUTPUT_INVALID: 502,
  ANSWER_INCOMPLETE: 502,
  STREAM_RESTARTED: 502,
  TOOL_EXECUTION_FAILED: 502,
  RESOURCE_NOT_FOUND: 404,
  PROMPT_NOT_FOUND: 404,
  MODEL_ERROR: 502,
  NETWORK_ERROR: 502,
  PERMISSION_DENIED: 403,
  UNKNOWN_ERROR: 500,
  MCP_SERVER_INVALID: 400,
  MCP_SERVER_NOT_FOUND: 404,
  MCP_SERVER_DUPLICATE: 409,
  MCP_SERVER_DISABLED: 409,
  MCP_REGISTRATION_CLOSED: 403,
  OUTGOING_REFUSED: 403,
  OUTGOING_FAILED: 502,
  OUTGOING_TIMEOUT: 504,
  CONFIG_INVALID: 500,
  DATABASE_LOCKED: 503,
  DATA_TAMPERED: 500,
  ENCRYPTION_KEY_UNKNOWN: 500,
  COMMIT_REFUSED: 409,
  SHUTTING_DOWN: 503,
  INTERNAL: 500,
};

/** Codes of errors that occur before our own code runs, by status. */
const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'VALIDATION_FAILED',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  408: 'REQUEST_TIMEOUT',
  413: 'PAYLOAD_TOO_LARGE',
  // The id in the path exceeds the maximum length.
  414: 'NOT_FOUND',
  415: 'UNSUPPORTED_MEDIA_TYPE',
};

/** Replaces Fastify's messages that only repeat the status or the URL. */
const DETAIL_OF_STATUS: Readonly<Record<number, string>> = {
  414: 'Not found: the id exceeds the maximum length.',
  415: 'The body must be JSON: send it with the header `content-type: application/json`.',
};

const DETAIL_OF_CODE: Readonly<Record<string, string>> = {
  FST_ERR_BAD_URL: 'The URL is not valid: percent-encode its parts as UTF-8 (`encodeURIComponent`).',
};

/** Maximum length of a `detail`, in characters. */
const MAX_DETAIL = 4_000;
/** Maximum size of a `detail` and a list of errors together, in bytes. */
const MAX_BYTES = 15_000;

/** Converts any thrown value to problem details; an internal error reveals no details. */
export function toProblem(thrown: unknown): Problem {
  const ownStatus = statusOf(thrown);
  const error = toOurs(thrown, ownStatus);
  const status = (error.code === 'REQUEST_REFUSED' && ownStatus) || STATUS[error.code];
  const { details, message, code } = error;
  const detail = message.length > MAX_DETAIL ? `${message.slice(0, MAX_DETAIL)}…` : message;
  const standard = { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, detail, code };
  // Standard members come first and cannot be replaced by details.
  return { ...standard, ...withFewErrors(details, MAX_BYTES - Buffer.byteLength(detail)), ...standard };
}

/** Limits a list of errors to a size in bytes of JSON; a number states how many are omitted. */
function withFewErrors(details: AppError['details'], maxBytes: number): AppError['details'] {
  const errors: unknown = details?.['errors'];
  if (!Array.isArray(errors)) return details;
  let size = 0;
  const some = errors.filter((error) => (size += Buffer.byteLength(JSON.stringify(error)) + 1) <= maxBytes);
  if (some.length === errors.length) return details;
  return { ...details, errors: some, omitted_errors: errors.length - some.length };
}

function toOurs(thrown: unknown, status: number | undefined): AppError {
  if (thrown instanceof AppError || status === undefined || status < 400 || status > 499) return toAppError(thrown);
  const code = CODE_OF_STATUS[status] ?? 'REQUEST_REFUSED';
  return new AppError(code, detailOf(thrown, status), { cause: thrown });
}

function detailOf(thrown: unknown, status: number): string {
  const message = mistakesOf(thrown) ?? messageOf(thrown);
  const isBare = !(thrown instanceof HttpException) || message === STATUS_CODES[status];
  const code = (thrown as { readonly code?: unknown } | null)?.code;
  return DETAIL_OF_CODE[String(code)] ?? ((isBare && DETAIL_OF_STATUS[status]) || message);
}

/** The mistakes that Nest's own `ValidationPipe` reports beside its message, which is "Bad Request Exception". */
function mistakesOf(thrown: unknown): string | undefined {
  const response: unknown = thrown instanceof HttpException ? thrown.getResponse() : undefined;
  const { message: messages } = Object(response) as { readonly message?: unknown };
  return Array.isArray(messages) ? `The request is not valid: ${messages.join('; ')}.` : undefined;
}

/** The status of Nest's and Fastify's own errors. */
function statusOf(thrown: unknown): number | undefined {
  if (thrown instanceof HttpException) return thrown.getStatus();
  const status = (thrown as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : undefined;
}
