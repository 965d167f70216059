/** A place that is called: a name or an address without brackets, in lower case and without the dot of the root. */
export interface OutgoingPlace {
  readonly host: string;
  readonly port: number;
}

export interface OutgoingLimits {
  /** The longest time of all, redirects and body included, in ms; by default 30,000. */
  readonly timeoutMs?: number;
  /** The longest time until the reply begins, at each place it is redirected to, in ms; by default as long as all. */
  readonly firstByteTimeoutMs?: number;
  /** The most bytes of a reply, as sent and as decoded; by default 10 MiB. */
  readonly maxBytes?: number;
  /** How often it may be redirected; by default 5. */
  readonly maxRedirects?: number;
}

/** Cookies of a call and of where it is redirected to: sent where they belong, and taken from every reply on the way. */
export interface OutgoingCookies {
  /** What the header `cookie` says there; undefined for none. */
  headerFor(url: URL): string | undefined;
  /** @param lines of the header `set-cookie` */
  take(url: URL, lines: readonly string[]): void;
}

/** Connections, as those who call want them. */
export interface ConnectionOptions {
  /** The longest time of a TCP and TLS handshake, in ms; by default 10,000. */
  readonly connectTimeoutMs?: number;
  /** The longest silence while a reply is waited for or read, in ms; by default as long as the call. */
  readonly readTimeoutMs?: number;
  /** The longest time in which nothing of a request is taken, in ms; by default as long as the call. */
  readonly writeTimeoutMs?: number;
  /** The most connections to one place; by default 64. */
  readonly most?: number;
  /** Whether a connection serves a further call; by default so. */
  readonly isKept?: boolean;
  /** How long one is kept without a call, in ms; by default 4,000, or as long as the server says, up to 60,000. */
  readonly idleMs?: number;
  /** After how many ms one is replaced by a new one before it serves a further call; by default never. */
  readonly lifetimeMs?: number;
  /** How often the system asks whether the other side is still there, in ms, whole seconds; by default 60,000. */
  readonly probeMs?: number;
}

/** A call out of the application. */
export interface OutgoingRequest {
  readonly url: string | URL;
  readonly method: string;
  /** By lower-case names. Those that any server may see also go to another origin that the call is redirected to. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Texts that only the origin of `url` may see: no header that holds one goes to another, nor is such an address followed there. */
  readonly secrets?: readonly string[];
  /** Without them none are sent, and none are kept. */
  readonly cookies?: OutgoingCookies;
  /** Ends the call, and its connection. */
  readonly signal?: AbortSignal;
  readonly limits?: OutgoingLimits;
}

export interface OutgoingReply {
  readonly status: number;
  /** By lower-case names; of one that came several times, all of it, comma-separated. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded by its `content-encoding`. */
  readonly body: Buffer;
}
