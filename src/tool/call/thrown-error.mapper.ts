import { HttpException } from '@nestjs/common';
import { AppError, type ErrorCode, messageOf } from '../../common/index.js';

/** What a thrown value says to the model. */
export interface ThrownError {
  readonly code: ErrorCode;
  readonly message: string;
  /** For the log: errors that were thrown on purpose say all in their message; of others the stack is wanted. */
  readonly detail: string;
}

const DENYING_STATUS: ReadonlySet<number> = new Set([401, 403]);
const DENYING_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['FORBIDDEN', 'UNAUTHENTICATED']);

/** What says itself what a call failed for. */
const OWN_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'TOOL_INVALID_RESULT',
  'TOOL_STATE_TOO_LARGE',
  'TOOL_STATE_CONFLICT',
  'TOOL_STATE_LIMIT',
  'TOOL_STATE_UNAVAILABLE',
]);

/** A tool's own failure is `TOOL_FAILED`; what a guard, or the tool itself, says of rights is `TOOL_DENIED`. */
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

/** Nest's `ValidationPipe` tells what is wrong in a list. */
function saidBy(error: unknown): string {
  if (!(error instanceof HttpException)) return messageOf(error);
  const response = error.getResponse();
  const { message } = typeof response === 'object' ? (response as { message?: unknown }) : {};
  return Array.isArray(message) ? message.join('; ') : error.message;
}
