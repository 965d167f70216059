import type { JsonSchema, JsonValue } from '../../common/index.js';
import type { Parameter } from '../parameter.builder.js';
import type { RestConnection } from './connection/rest-connection.types.js';
import type { StandardInputSchema } from '../standard-schema.types.js';
import type { StatefulOptions } from '../state/stateful-options.types.js';
import type { ToolHandling } from '../tool-handling.types.js';
import type { ToolEffect } from '../tool.types.js';

/** The methods a tool may use. */
export const REST_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type RestMethod = (typeof REST_METHODS)[number];

/**
 * Who logs in (RFC 7617): `user` is the name itself, which is no secret; `username` and `password` are names of variables
 * that `TOOL_SECRETS` allows.
 */
export type RestLogin = { readonly password?: string } & (
  { readonly user: string; readonly username?: undefined } | { readonly username: string; readonly user?: undefined }
);

/**
 * How a call says who it is. Every value but `name` and `user` is the name of a variable that `TOOL_SECRETS` allows, never
 * a secret itself.
 */
export type RestAuth =
  | { readonly type: 'bearer'; readonly token: string }
  | ({ readonly type: 'basic' } & RestLogin)
  | { readonly type: 'apiKey'; readonly in: 'header' | 'query'; readonly name: string; readonly key: string };

/**
 * An endpoint as a tool. In `url`, `query`, `headers` and `body`, `{city}` stands for the argument `city` and
 * `{address.city}` for what is inside of one; `{{` and `}}` are braces.
 */
export interface RestToolDeclaration extends ToolHandling {
  /** Unique in the application, `[A-Za-z0-9_-]{1,64}`. */
  readonly name: string;
  /** For the model: what the tool does and when to use it. */
  readonly description: string;
  /** By default `GET`. */
  readonly method?: RestMethod;
  /** `https://host/path/{id}`; arguments stand in the path only, where they are percent-encoded. */
  readonly url: string;
  /** The shape of the arguments, as of any tool; without it the tool takes none. */
  readonly parameters?: JsonSchema | StandardInputSchema | readonly Parameter[];
  /**
   * The query by its names. `{ids}` writes a list as `ids=1,2` and `{ids*}` as `ids=1&ids=2`. Without it, the arguments
   * that stand nowhere else, for methods without a body.
   */
  readonly query?: Readonly<Record<string, JsonValue>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Any JSON. Without it, an object of the arguments that stand nowhere else, for methods with a body. */
  readonly body?: JsonValue;
  /** By default `json`; `form` is `application/x-www-form-urlencoded`. */
  readonly bodyType?: 'json' | 'form';
  readonly auth?: RestAuth | readonly RestAuth[];
  /** JSON pointer (RFC 6901) to the part of the reply that is the result; by default all of it. */
  readonly result?: string;
  /** The longest one call may take, its retries included, in ms; by default 30,000. */
  readonly timeoutMs?: number;
  /** The longest time until a reply begins, in ms, after which the call may be made again; by default as long as all. */
  readonly firstByteTimeoutMs?: number;
  /** How often a call that failed is made again; by default 2, and 0 for the effect `once`, which is never repeated. */
  readonly retries?: number;
  /** Whether the calls of a session share a connection: cookies, tokens, and sockets that are kept. */
  readonly stateful?: boolean | Pick<StatefulOptions, 'manager' | 'ttlMs' | 'maxHistory' | 'cleanupAfterRun'>;
  /** Of a stateful tool: what its connection is like. */
  readonly connection?: RestConnection;
  /** By default `read` for GET and HEAD, else `once`. */
  readonly effect?: ToolEffect;
  /** By default true: what a server answers is a stranger's text. */
  readonly untrusted?: boolean;
}
