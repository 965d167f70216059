/**
 * Failures of a call on the wire, without provider and model; the error mapper converts each to the `AppError` for the
 * caller.
 */
export type WireFailure = StatusError | UnreachableError | SilenceError | LateError | BrokenReplyError | BadReplyError;

/** The provider returned an error status. */
export class StatusError extends Error {
  constructor(
    readonly status: number,
    /** The provider's message, unchanged. */
    readonly said: string,
    /** The provider's error code, such as `insufficient_quota`. */
    readonly kind?: string,
    /** `Retry-After` of the provider, in ms. */
    readonly retryAfterMs?: number,
  ) {
    super(`HTTP ${status}`);
  }
}

/** No reply started: connection refused or reset, or unknown host. */
export class UnreachableError extends Error {
  constructor(cause: unknown) {
    super('no connection', { cause });
  }
}

/**
 * The TCP or TLS handshake timed out. It has no cause and a message of its own: an SDK that finds "timeout" in an error
 * drops its cause.
 */
export class LateConnectionError extends Error {
  constructor() {
    super('no connection');
  }
}

/** No data arrived within the limit. */
export class SilenceError extends Error {
  constructor(
    /** Duration of the silence, in ms. */
    readonly ms: number,
    /** Whether the reply had started. */
    readonly hadBegun: boolean,
  ) {
    super('silence');
  }
}

/** The call exceeded its total time limit. */
export class LateError extends Error {
  constructor(
    /** The limit, in ms. */
    readonly ms: number,
  ) {
    super('late');
  }
}

/** The connection broke after the reply had started. */
export class BrokenReplyError extends Error {
  constructor(cause: unknown) {
    super('the connection broke in the middle of the reply', { cause });
  }
}

/** An invalid reply: not JSON, incomplete, or an error with status 200. */
export class BadReplyError extends Error {
  constructor(
    /** Description of the reply, as the end of "… answered with ". */
    readonly what: string,
  ) {
    super(what);
  }
}
