/** Data of the thread that serves the health port. */
export interface HealthPortData {
  readonly port: number;
  readonly host: string;
  /** Path before the routes; empty without one. */
  readonly prefix: string;
  /** Silence of the main thread after which it is not alive, in ms; after half of it a readiness result is too old. */
  readonly silenceMs: number;
}

/** A result of the readiness check. */
export interface Readiness {
  readonly isReady: boolean;
  /** The response body. */
  readonly body: object;
}

/** A message of the main thread: a heartbeat, or the last result of the readiness check. */
export type HealthSignal = 'beat' | Readiness;

/** The first message of the thread. */
export type HealthPortStart =
  { readonly kind: 'listening'; readonly port: number } | { readonly kind: 'failed'; readonly message: string };
