import { HttpException } from '@nestjs/common';
import { AppError, type ErrorCode } from '../../errors/index.js';
import { maskSecrets } from '../../kernel/index.js';
import { maskPaths } from './file-path.mapper.js';
import { thrownStack, thrownText } from './thrown-text.mapper.js';

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

/**
 * Maps a thrown value: `TOOL_DENIED` for an authorisation error of a guard or the tool, otherwise `TOOL_FAILED`. Message
 * and detail contain no secrets, and the message no paths of files.
 * @param secrets values to mask in addition to secret-shaped texts
 * @param args arguments of the call, whose paths the message may have
 */
export function toThrownError(error: unknown, secrets: readonly string[] = [], args?: unknown): ThrownError {
  const text = maskSecrets(thrownText(error, secrets), secrets);
  const isOnPurpose = error instanceof HttpException;
  const message = isReported(error) ? text : maskPaths(text, args);
  return { code: codeOf(error), message, detail: isOnPurpose ? text : maskSecrets(thrownStack(error), secrets) };
}

/** Whether the error is the result of an MCP tool: the server has written its text for the model. */
function isReported(error: unknown): boolean {
  return error instanceof AppError && error.code === 'TOOL_EXECUTION_FAILED';
}

function codeOf(error: unknown): ErrorCode {
  if (error instanceof AppError && OWN_CODES.has(error.code)) return error.code;
  return isDenial(error) ? 'TOOL_DENIED' : 'TOOL_FAILED';
}

function isDenial(error: unknown): boolean {
  if (error instanceof AppError) return DENYING_CODES.has(error.code);
  return error instanceof HttpException && DENYING_STATUS.has(error.getStatus());
}
