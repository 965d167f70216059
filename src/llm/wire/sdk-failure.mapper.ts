import { parseRetryAfter } from '../../common/index.js';
import { providerKind, providerMessage } from './provider-message.parser.js';
import { LateError, SilenceError, StatusError, UnreachableError } from './wire-failure.error.js';

/** What is read of the error that an SDK throws for an error status; those of OpenAI and Anthropic are alike. */
export interface SdkStatusError {
  readonly status: number;
  readonly message: string;
  /** The provider's error object. */
  readonly error: unknown;
  readonly headers: { get(name: string): string | null } | undefined;
}

/** An error status, as the rest of the wire knows it. */
export function toStatusFailure({ status, message, error, headers }: SdkStatusError): StatusError {
  return new StatusError(
    status,
    providerMessage(error ?? message.replace(/^\d{3} (?:status code \(no body\))?/, '')),
    providerKind(error),
    parseRetryAfter((name) => headers?.get(name) ?? null),
  );
}

/** No reply began. @param cause what the SDK's error was thrown for */
export function toConnectionFailure(cause: unknown): SilenceError | LateError | UnreachableError {
  return cause instanceof SilenceError || cause instanceof LateError ? cause : new UnreachableError(cause);
}
