import type { ErrorCode } from './error-code.types.js';

export interface AppErrorOptions {
  /** What caused it; kept for the log, never sent to a client. */
  cause?: unknown;
  /** Whether the same request may succeed when tried again without a change. */
  isRetryable?: boolean;
  /** Facts for the client beside the message; JSON values only, no secrets. */
  details?: Readonly<Record<string, unknown>>;
}

/**
 * The one base of every error Jackdaw throws on purpose. The message says what happened, to what, and what to do;
 * only the HTTP filter turns `code` into a status.
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

/** Gives any thrown value as an `AppError`; what is not ours becomes `INTERNAL` with the original as cause. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  return new AppError('INTERNAL', 'Something went wrong inside the server; its log has the cause.', { cause: thrown });
}

/** The text of any thrown value. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
