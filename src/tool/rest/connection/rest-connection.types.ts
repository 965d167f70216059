/** A token of a reply, which later calls of the same session say. */
export interface TokenCapture {
  /** JSON pointer (RFC 6901) to it in the reply; a reply without it changes nothing. */
  readonly from: string;
  /** The header that says it, to the declared origin alone. */
  readonly header: string;
  /** What stands before it there: `"Bearer "`; by default nothing. */
  readonly prefix?: string;
}

/** How calls that failed are made again; not for the effect `once`. Instead of `retries`. */
export interface RestRetry {
  /** How often a call is made at most, the first time included; by default 3. */
  readonly attempts?: number;
  /** How long to wait before the second attempt, in ms; by default 1,000. */
  readonly delayMs?: number;
  /** By how much each wait is longer than the one before it; by default 2. */
  readonly backoff?: number;
  /** Whether a wait is a random part of that; by default true. */
  readonly jitter?: boolean;
}

/** What calls of one session share, beside its state. */
export interface RestConnection {
  /** Whether cookies are kept and sent; by default true. */
  readonly cookies?: boolean;
  /** Tokens by names of one's own. */
  readonly capture?: Readonly<Record<string, TokenCapture>>;
  /** The most connections, and so calls at once; by default 10. */
  readonly poolSize?: number;
  /** The most calls that wait for one of them; further ones fail at once. By default 20. */
  readonly maxOverflow?: number;
  /** The longest time that a call waits for a connection, in ms; by default 30,000. */
  readonly poolTimeoutMs?: number;
  /** After how long a connection is replaced before it serves a further call, in ms; by default 3,600,000. */
  readonly poolRecycleMs?: number;
  /** The longest time of a TCP and TLS handshake, in ms; by default 10,000. */
  readonly connectTimeoutMs?: number;
  /** The longest silence while a reply is waited for or read, in ms; by default 60,000. */
  readonly readTimeoutMs?: number;
  /** The longest time in which nothing of a request is taken, in ms; by default 60,000. */
  readonly writeTimeoutMs?: number;
  /** The longest one call may take, its retries included, in ms: the tool's `timeoutMs`. By default 30,000. */
  readonly timeoutMs?: number;
  /** Whether a connection serves further calls; by default true. */
  readonly keepAlive?: boolean;
  /** How long a connection is kept without a call, in ms, or shorter where the server says so; by default 30,000. */
  readonly keepAliveTimeoutMs?: number;
  /** How often the system asks whether the other side is still there, in ms, whole seconds; by default 60,000. */
  readonly keepAliveIntervalMs?: number;
  readonly retry?: RestRetry;
}
