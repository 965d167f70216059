import type { JsonSchema, JsonValue } from '../kernel/index.js';
import type { Parameter, StandardInputSchema, StatefulOptions, ToolEffect, ToolHandling } from '../tool/index.js';
import type { RestConnection } from './connection/rest-connection.types.js';

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
