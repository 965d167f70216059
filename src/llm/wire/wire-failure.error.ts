import type { ParameterName } from '../chat/chat.types.js';

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
    /** Path of the request's field that the error concerns, as the provider reports it. */
    readonly param?: string,
  ) {
    super(`HTTP ${status}`);
  }
}

/** The provider refused a parameter that a caller set. */
export class RefusedParameterError extends StatusError {
  constructor(
    { status, said, kind, retryAfterMs, param }: StatusError,
    readonly parameter: ParameterName,
  ) {
    super(status, said, kind, retryAfterMs, param);
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

/** This process was suspended, or its event loop blocked, until after the limit: the provider may have answered in time. */
export class SuspensionError extends Error {
  readonly code = 'PROCESS_SUSPENDED';

  constructor() {
    super('this process was suspended during the call');
  }
}

/** No data arrived within the limit. */
export class SilenceError extends Error {
  constructor(
    /** Duration of the silence, in ms. */
    readonly ms: number,
    /** Whether the reply had started. */
    readonly hadStarted: boolean,
    cause?: SuspensionError,
  ) {
    super('silence', { cause });
  }
}

/** The call exceeded its total time limit. */
export class LateError extends Error {
  constructor(
    /** The limit, in ms. */
    readonly ms: number,
    cause?: SuspensionError,
  ) {
    super('late', { cause });
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

/** The address has no Responses API, or it does not serve the model: Chat Completions may. */
export class MissingApiError extends Error {
  constructor(
    readonly failure: StatusError | BadReplyError,
    /** Whether the failure concerns this model only. */
    readonly isOfModel = false,
  ) {
    super(failure.message);
  }
}

/** The whole text of a provider's error, for the log: its message in the error lacks stack traces and paths. */
export class ProviderDetails extends Error {}
