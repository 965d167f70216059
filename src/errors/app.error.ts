import { HttpException } from '@nestjs/common';
import { STATUS_CODES } from 'node:http';
import type { ErrorCode } from './error-code.types.js';
import { ERROR_STATUS } from './error-status.js';

export interface AppErrorOptions {
  /** The cause, for the log; never sent to a client. */
  cause?: unknown;
  /** Whether the same request may succeed if it is repeated unchanged. */
  isRetryable?: boolean;
  /** Facts for the client in addition to the message; JSON values only, no secrets. */
  details?: Readonly<Record<string, unknown>>;
}

/** The JSON body with which Nest answers an error that no filter handles. */
export interface ErrorBody {
  readonly statusCode: number;
  /** Text of the status. */
  readonly error: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Members of `HttpException` that a printed error omits. */
const HIDDEN = ['message', 'response', 'status', 'options'];

/**
 * Base class of every error that Jackdaw throws on purpose. The message states what happened, to what, and the remedy.
 * As an `HttpException` it gets the status of its code wherever Nest maps exceptions.
 */
export class AppError extends HttpException {
  readonly isRetryable: boolean;
  declare readonly details?: Readonly<Record<string, unknown>>;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: AppErrorOptions = {},
  ) {
    super(message, ERROR_STATUS[code]);
    for (const key of HIDDEN) Object.defineProperty(this, key, { enumerable: false });
    // `HttpException` declares these members even without a value.
    Reflect.deleteProperty(this, 'errorCode');
    Reflect.deleteProperty(this, 'cause');
    if (options.cause !== undefined) {
      Object.defineProperty(this, 'cause', { value: options.cause, writable: true, configurable: true });
    }
    this.name = 'AppError';
    // `HttpException` sets its message after V8 has written the stack.
    Error.captureStackTrace(this, new.target);
    this.isRetryable = options.isRetryable ?? false;
    if (options.details) this.details = options.details;
  }

  override getResponse(): ErrorBody {
    const statusCode = this.getStatus();
    const { code, message, details } = this;
    return { statusCode, error: STATUS_CODES[statusCode] ?? 'Error', code, message, ...(details && { details }) };
  }
}

/** Converts any thrown value to an `AppError`; a foreign error becomes `INTERNAL` with the original as its cause. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  return new AppError('INTERNAL', 'Internal server error; the server log contains the cause.', { cause: thrown });
}

/** The text of any thrown value. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
