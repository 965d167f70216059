/** Destination of a call. `host` is a name or an address, without brackets or trailing dot, in lower case. */
export interface OutgoingPlace {
  readonly host: string;
  readonly port: number;
}

export interface OutgoingLimits {
  /** Maximum time of the whole call, redirects and body included, in ms; by default 30,000. */
  readonly timeoutMs?: number;
  /** Maximum time to the first byte of each reply, in ms; by default `timeoutMs`. */
  readonly firstByteTimeoutMs?: number;
  /** Maximum bytes of a reply, both encoded and decoded; by default 10 MiB. */
  readonly maxBytes?: number;
  /** Maximum redirects; by default 5. */
  readonly maxRedirects?: number;
}

/** Cookie jar of a call and its redirects. */
export interface OutgoingCookies {
  /** Value of the header `cookie` for a URL; `undefined` without cookies. */
  headerFor(url: URL): string | undefined;
  /** @param lines values of the header `set-cookie` */
  take(url: URL, lines: readonly string[]): void;
}

/** Connection settings of a client. */
export interface ConnectionOptions {
  /** Maximum time of the TCP and TLS handshake, in ms; by default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Maximum time without received data, in ms; by default limited by the call. */
  readonly readTimeoutMs?: number;
  /** Maximum time without progress while a request is sent, in ms; by default limited by the call. */
  readonly writeTimeoutMs?: number;
  /** Maximum connections per host and port; by default 64. */
  readonly most?: number;
  /** Whether connections are reused; by default `true`. */
  readonly isPersistent?: boolean;
  /** Idle time-out of a connection, in ms; by default the server's announcement up to 60,000, else 4,000. */
  readonly idleMs?: number;
  /** Maximum age of a connection that serves a further call, in ms; by default unlimited. */
  readonly lifetimeMs?: number;
  /** Interval of TCP keep-alive probes, in ms, whole seconds; by default 60,000. */
  readonly probeMs?: number;
  /** Whether a connection with an open request keeps the process alive; by default `true`. */
  readonly holdsProcess?: boolean;
}

/** An outgoing HTTP request. */
export interface OutgoingRequest {
  readonly url: string | URL;
  readonly method: string;
  /** Keyed by lower-case name. A redirect to another origin carries only harmless ones (see `redirect.policy.ts`). */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Texts for the origin of `url` only: headers that contain one are not sent to another origin, and a redirect whose URL contains one is refused. */
  readonly secrets?: readonly string[];
  /** Cookie jar; without it no cookies are sent or stored. */
  readonly cookies?: OutgoingCookies;
  /** Aborts the call and closes its connection. */
  readonly signal?: AbortSignal;
  readonly limits?: OutgoingLimits;
}

export interface OutgoingReply {
  readonly status: number;
  /** Keyed by lower-case name; repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded according to `content-encoding`. */
  readonly body: Buffer;
}
