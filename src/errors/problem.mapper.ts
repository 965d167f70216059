import { HttpException } from '@nestjs/common';
import { STATUS_CODES } from 'node:http';
import { AppError, messageOf, toAppError } from './app.error.js';
import type { ErrorCode } from './error-code.types.js';
import { ERROR_STATUS } from './error-status.js';
import type { Problem } from './problem.types.js';

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
  const status = (error.code === 'REQUEST_REFUSED' && ownStatus) || ERROR_STATUS[error.code];
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
