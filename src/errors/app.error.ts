import type { ErrorCode } from './error-code.types.js';

export interface AppErrorOptions {
  /** The cause, for the log; never sent to a client. */
  cause?: unknown;
  /** Whether the same request may succeed if it is repeated unchanged. */
  isRetryable?: boolean;
  /** Facts for the client in addition to the message; JSON values only, no secrets. */
  details?: Readonly<Record<string, unknown>>;
}

/**
 * Base class of every error that Jackdaw throws on purpose. The message states what happened, to what, and the remedy;
 * only the HTTP filter converts `code` to a status.
 */
export class AppError extends Error {
  readonly isRetryable: boolean;
  readonly details?: Readonly<Record<string, unknown>>;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: AppErrorOptions = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.isRetryable = options.isRetryable ?? false;
    if (options.details) this.details = options.details;
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
