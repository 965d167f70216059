/**
 * How a call over the wire fails, before anybody knows for which provider and model; the error mapper turns each of
 * these into the `AppError` that callers see.
 */
export type WireFailure = StatusError | UnreachableError | SilenceError | LateError | BrokenReplyError | BadReplyError;

/** The provider answered with an error status. */
export class StatusError extends Error {
  constructor(
    readonly status: number,
    /** What the provider said, as it said it. */
    readonly said: string,
    /** The provider's own code for it, such as `insufficient_quota`. */
    readonly kind?: string,
    /** How long it wants to be left alone, in ms. */
    readonly retryAfterMs?: number,
  ) {
    super(`HTTP ${status}`);
  }
}

/** No reply began: refused, reset, no such host. */
export class UnreachableError extends Error {
  constructor(cause: unknown) {
    super('no connection', { cause });
  }
}

/**
 * Why no connection was made: the handshake did not end in its time. It has no cause and a word of its own, since an SDK
 * that reads "timeout" in an error throws away what it was thrown for.
 */
export class LateConnectionError extends Error {
  constructor() {
    super('no connection');
  }
}

/** No sign of life for longer than the limit. */
export class SilenceError extends Error {
  constructor(
    /** How long it was silent, in ms. */
    readonly ms: number,
    /** Whether the reply had begun. */
    readonly hadBegun: boolean,
  ) {
    super('silence');
  }
}

/** Not done in the time that a call may take in all. */
export class LateError extends Error {
  constructor(
    /** In ms. */
    readonly ms: number,
  ) {
    super('late');
  }
}

/** The connection broke after the reply had begun. */
export class BrokenReplyError extends Error {
  constructor(cause: unknown) {
    super('the connection broke in the middle of the reply', { cause });
  }
}

/** A reply that is not one: not JSON, incomplete, an error inside a 200. */
export class BadReplyError extends Error {
  constructor(
    /** What came, as the end of "… answered with ". */
    readonly what: string,
  ) {
    super(what);
  }
}
