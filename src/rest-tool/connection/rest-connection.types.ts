/** A token of a reply that later calls of the same session send. */
export interface TokenCapture {
  /** JSON pointer (RFC 6901) to the token in the reply; a reply without it changes nothing. */
  readonly from: string;
  /** Header that carries the token, sent to the declared origin only. */
  readonly header: string;
  /** Prefix of the header value, such as `"Bearer "`; by default empty. */
  readonly prefix?: string;
}

/** Retry settings of failed calls; replaces `retries`. Not allowed for the effect `once`. */
export interface RestRetry {
  /** Maximum attempts, including the first; by default 3. */
  readonly attempts?: number;
  /** Delay before the second attempt, in ms; by default 1,000. */
  readonly delayMs?: number;
  /** Factor between successive delays; by default 2. */
  readonly backoff?: number;
  /** Whether each delay is multiplied by a random number in [0, 1); by default `true`. */
  readonly jitter?: boolean;
}

/** Connection settings of the calls of one session. */
export interface RestConnection {
  /** Whether cookies are stored and sent; by default `true`. */
  readonly cookies?: boolean;
  /** Captured tokens, keyed by a name of your choice. */
  readonly capture?: Readonly<Record<string, TokenCapture>>;
  /** Connections that later calls reuse; by default 10. */
  readonly poolSize?: number;
  /** Additional connections while all of `poolSize` are in use; each closes after its call. By default 20. */
  readonly maxOverflow?: number;
  /** Maximum wait of a call for a connection, in ms; by default 30,000. */
  readonly poolTimeoutMs?: number;
  /** Maximum age of a connection that serves a further call, in ms; by default 3,600,000. */
  readonly poolRecycleMs?: number;
  /** Maximum time of the TCP and TLS handshake, in ms; by default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Maximum time without received data, in ms; by default 60,000. */
  readonly readTimeoutMs?: number;
  /** Maximum time without progress while a request is sent, in ms; by default 60,000. */
  readonly writeTimeoutMs?: number;
  /** Maximum time of one call including its retries, in ms: the tool's `timeoutMs`. By default 30,000. */
  readonly timeoutMs?: number;
  /** Whether connections are reused; by default `true`. */
  readonly keepAlive?: boolean;
  /** Idle time-out of a connection, in ms, or the server's if shorter; by default 30,000. */
  readonly keepAliveTimeoutMs?: number;
  /** Interval of TCP keep-alive probes, in ms, whole seconds; by default 60,000. */
  readonly keepAliveIntervalMs?: number;
  readonly retry?: RestRetry;
}
