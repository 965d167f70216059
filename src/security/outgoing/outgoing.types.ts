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

/** A call out of the application. */
export interface OutgoingRequest {
  readonly url: string | URL;
  readonly method: string;
  /** By lower-case names. Those that any server may see also go to another origin that the call is redirected to. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Texts that only the origin of `url` may see: no header that holds one goes to another, nor is such an address followed there. */
  readonly secrets?: readonly string[];
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
