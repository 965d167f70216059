import { HttpException } from '@nestjs/common';
import { AppError, type ErrorCode, messageOf } from '../../common/index.js';

/** Error of a call, mapped for the model. */
export interface ThrownError {
  readonly code: ErrorCode;
  readonly message: string;
  /** Text for the log: the message of an expected error, the stack of any other error. */
  readonly detail: string;
}

const DENYING_STATUS: ReadonlySet<number> = new Set([401, 403]);
const DENYING_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['FORBIDDEN', 'UNAUTHENTICATED']);

/** Codes that describe the failure themselves and stay unchanged. */
const OWN_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'TOOL_INVALID_RESULT',
  'TOOL_STATE_TOO_LARGE',
  'TOOL_STATE_CONFLICT',
  'TOOL_STATE_LIMIT',
  'TOOL_STATE_UNAVAILABLE',
]);

/** Maps a thrown value: `TOOL_DENIED` for an authorisation error of a guard or the tool, otherwise `TOOL_FAILED`. */
export function toThrownError(error: unknown): ThrownError {
  const message = saidBy(error);
  const isOnPurpose = error instanceof AppError || error instanceof HttpException;
  const detail = error instanceof Error && !isOnPurpose ? (error.stack ?? message) : message;
  return { code: codeOf(error), message, detail };
}

function codeOf(error: unknown): ErrorCode {
  if (error instanceof AppError && OWN_CODES.has(error.code)) return error.code;
  return isDenial(error) ? 'TOOL_DENIED' : 'TOOL_FAILED';
}

function isDenial(error: unknown): boolean {
  if (error instanceof HttpException) return DENYING_STATUS.has(error.getStatus());
  return error instanceof AppError && DENYING_CODES.has(error.code);
}

/** Nest's `ValidationPipe` reports a list of messages. */
function saidBy(error: unknown): string {
  if (!(error instanceof HttpException)) return messageOf(error);
  const response = error.getResponse();
  const { message } = typeof response === 'object' ? (response as { message?: unknown }) : {};
  return Array.isArray(message) ? message.join('; ') : error.message;
}
