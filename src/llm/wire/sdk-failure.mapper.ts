import { parseRetryAfter } from '../../kernel/index.js';
import { providerKind, providerMessage, providerParam } from './provider-message.parser.js';
import { LateError, SilenceError, StatusError, UnreachableError } from './wire-failure.error.js';

/** The used fields of an SDK's status error; OpenAI's and Anthropic's are alike. */
export interface SdkStatusError {
  readonly status: number;
  readonly message: string;
  /** The provider's error object. */
  readonly error: unknown;
  readonly headers: { get(name: string): string | null } | undefined;
}

/** Converts an SDK's status error. */
export function toStatusFailure({ status, message, error: body, headers }: SdkStatusError): StatusError {
  // Gemini's OpenAI-compatible API: `[{"error": {…}}]`.
  const error: unknown = Array.isArray(body) ? (body[0] as { error?: unknown } | null | undefined)?.error : body;
  return new StatusError(
    status,
    providerMessage(error ?? message.replace(/^\d{3} (?:status code \(no body\))?/, '')),
    providerKind(error),
    parseRetryAfter((name) => headers?.get(name) ?? null),
    providerParam(error),
  );
}

/** Converts an error before the reply started. @param cause cause of the SDK's error */
export function toConnectionFailure(cause: unknown): SilenceError | LateError | UnreachableError {
  return cause instanceof SilenceError || cause instanceof LateError ? cause : new UnreachableError(cause);
}
