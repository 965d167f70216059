import type { JsonSchema, JsonValue } from '../kernel/json/index.js';
import type { ToolEffect, ToolHandling } from '../tool/index.js';
import type { Parameter, StandardInputSchema } from '../tool/input/index.js';
import type { StatefulOptions } from '../tool/stateful/index.js';

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

/** HTTP methods of REST tools. */
export const REST_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type RestMethod = (typeof REST_METHODS)[number];

/**
 * Basic credentials (RFC 7617): `user` is the name itself, which is not a secret; `username` and `password` are names of
 * variables that `TOOL_SECRETS` allows.
 */
export type RestLogin = { readonly password?: string } & (
  { readonly user: string; readonly username?: undefined } | { readonly username: string; readonly user?: undefined }
);

/**
 * Authentication of a call. Every value except `name` and `user` is the name of a variable that `TOOL_SECRETS` allows,
 * never a secret itself.
 */
export type RestAuth =
  | { readonly type: 'bearer'; readonly token: string }
  | ({ readonly type: 'basic' } & RestLogin)
  | {
      readonly type: 'apiKey';
      readonly in: 'header' | 'query' | 'cookie';
      readonly name: string;
      readonly key: string;
    };

/**
 * An endpoint as a tool. In `url`, `query`, `headers` and `body`, `{city}` is replaced by the argument `city` and
 * `{address.city}` by a property of an argument; `{{` and `}}` are literal braces.
 */
export interface RestToolDeclaration extends ToolHandling {
  /** Unique in the application, `[A-Za-z0-9_-]{1,64}`. */
  readonly name: string;
  /** For the model: purpose of the tool and when to use it. */
  readonly description: string;
  /** By default `GET`. */
  readonly method?: RestMethod;
  /** `https://host/path/{id}`; placeholders are allowed in the path only and are percent-encoded. */
  readonly url: string;
  /** Schema of the arguments; by default the tool has none. */
  readonly parameters?: JsonSchema | StandardInputSchema | readonly Parameter[];
  /**
   * Query parameters. `{ids}` encodes a list as `ids=1,2`, `{ids*}` as `ids=1&ids=2`. By default all arguments without a
   * placeholder, for methods without a body.
   */
  readonly query?: Readonly<Record<string, JsonValue>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Any JSON. By default an object of all arguments without a placeholder, for methods with a body. */
  readonly body?: JsonValue;
  /** By default `json`; `form` is `application/x-www-form-urlencoded`. */
  readonly bodyType?: 'json' | 'form';
  readonly auth?: RestAuth | readonly RestAuth[];
  /** JSON pointer (RFC 6901) to the result in the reply; by default the whole reply. */
  readonly result?: string;
  /** Maximum time of one call including its retries, in ms; by default 30,000. */
  readonly timeoutMs?: number;
  /** Maximum time to the first byte of a reply, in ms; then the call may be retried. By default `timeoutMs`. */
  readonly firstByteTimeoutMs?: number;
  /** Maximum retries of a failed call; by default 2, and 0 for the effect `once`, which is never repeated. */
  readonly retries?: number;
  /** Whether the calls of a session share cookies, tokens and sockets. */
  readonly stateful?: boolean | Pick<StatefulOptions, 'manager' | 'ttlMs' | 'maxHistory' | 'cleanupAfterRun'>;
  /** Connection settings of a stateful tool. */
  readonly connection?: RestConnection;
  /** By default `read` for GET and HEAD, else `once`. */
  readonly effect?: ToolEffect;
  /** By default `true`: replies are untrusted content. */
  readonly untrusted?: boolean;
  /** Whether replies are private data; by default those of a request with credentials. */
  readonly private?: boolean;
}
