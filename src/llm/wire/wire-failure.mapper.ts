import { parseRetryAfter } from '../../kernel/index.js';
import { providerKind, providerMessage, providerParam } from './provider-message.parser.js';
import { LateError, SilenceError, StatusError, UnreachableError } from './wire-failure.error.js';

/** A reply with an error status. */
export interface RefusedReply {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** The whole body. */
  readonly text: string;
}

/** Converts a reply with an error status. */
export function toStatusFailure({ status, headers, text }: RefusedReply): StatusError {
  const error = errorIn(text);
  return new StatusError(
    status,
    providerMessage(error),
    providerKind(error),
    parseRetryAfter((name) => headers.get(name)),
    providerParam(error),
  );
}

/** The error object of a body: `{"error": …}`, `[{"error": …}]` (Gemini) or the whole body; a text as it is. */
function errorIn(text: string): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return text;
  }
  const first: unknown = Array.isArray(body) ? body[0] : body;
  return (first as { readonly error?: unknown } | null | undefined)?.error ?? first;
}

/** Converts an error before the reply started. */
export function toConnectionFailure(cause: unknown): SilenceError | LateError | UnreachableError {
  return cause instanceof SilenceError || cause instanceof LateError ? cause : new UnreachableError(cause);
}
