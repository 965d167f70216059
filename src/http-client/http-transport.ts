import { OPERATIONS, type Operations } from './generated/operations.js';
import { JackdawError } from './jackdaw.error.js';
import { delayOf, isRetryable, newKey, pause } from './retry.js';

/** Settings of a client. */
export interface JackdawClientOptions {
  /** URL of the server, such as `https://jackdaw.example`. */
  readonly baseUrl: string | URL;
  /** An API key or a token; sent as `Authorization: Bearer`. */
  readonly apiKey?: string;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /**
   * Maximum repetitions of a request after a lost connection, 429, 502, 503 or 504; default 2. A request that could have a
   * second effect is repeated only after 429 and 503.
   */
  readonly retries?: number;
  /** Maximum reconnections of a stream without an event in between; default 8, which is about half a minute. */
  readonly reconnects?: number;
  /** Timeout of a request with its repetitions, in ms; default none. It does not apply to streams. */
  readonly timeoutMs?: number;
  /** A stream without any data for this time reconnects, in ms; default 60,000. The server sends a heartbeat every 15 s. */
  readonly idleTimeoutMs?: number;
  /** First segments of the path; default `api`. A host application has its own. */
  readonly prefix?: string;
}

/** Options of one request. */
export interface RequestOptions {
  /** Aborts the request; its promise then rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
  /** Timeout of this request with its repetitions, in ms. */
  readonly timeoutMs?: number;
}

/** Options of a request that creates something. */
export interface CreateOptions extends RequestOptions {
  /** Repeated requests with this key have one effect, for 24 hours. Default: a random key for the repetitions by the client. */
  readonly idempotencyKey?: string;
}

export type OperationId = keyof Operations;
type Part<Id extends OperationId, Name extends 'path' | 'query' | 'body'> = undefined extends Operations[Id][Name]
  ? { readonly [N in Name]?: Operations[Id][Name] }
  : { readonly [N in Name]: Operations[Id][Name] };
/** Path parameters, query and body of an operation. */
export type OperationInput<Id extends OperationId> = Part<Id, 'path'> &
  Partial<Part<Id, 'query'>> &
  Part<Id, 'body'> & { readonly headers?: Readonly<Record<string, string>> };

/** Sends the requests of the API. */
export class HttpTransport {
  readonly retries: number;
  readonly reconnects: number;
  readonly idleTimeoutMs: number;
  private readonly base: string;
  private readonly headers: Readonly<Record<string, string>>;
  private readonly send: typeof fetch;

  constructor(private readonly options: JackdawClientOptions) {
    const { baseUrl, prefix = 'api', apiKey, headers, fetch: send } = options;
    const { retries = 2, reconnects = 8, idleTimeoutMs = 60_000 } = options;
    this.base = `${new URL(baseUrl).href.replace(/\/+$/, '')}/${prefix.replace(/^\/+|\/+$/g, '')}`;
    this.headers = { ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }), ...headers };
    // A browser requires the global object as `this` of its `fetch`.
    this.send = send ?? ((input, init) => globalThis.fetch(input, init));
    this.retries = retries;
    this.reconnects = reconnects;
    this.idleTimeoutMs = idleTimeoutMs;
  }

  /**
   * Calls an operation and parses its answer.
   * @throws JackdawError for each error of the server and of the connection; the reason of an aborted signal
   */
  async call<Id extends OperationId>(
    id: Id,
    input: OperationInput<Id>,
    { signal, timeoutMs = this.options.timeoutMs, idempotencyKey }: CreateOptions = {},
  ): Promise<Operations[Id]['answer']> {
    const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
    const both = [signal, timeout].filter((each) => each !== undefined);
    const headers = { ...keyOf(id, idempotencyKey), ...input.headers };
    const request = { ...input, headers, signal: AbortSignal.any(both) };
    try {
      return (await this.repeat(id, request)) as Operations[Id]['answer'];
    } catch (error) {
      if (timeout?.aborted && !signal?.aborted)
        throw new JackdawError('CLIENT_TIMEOUT', `No answer in ${timeoutMs} ms.`, { cause: error });
      throw error;
    }
  }

  /**
   * Sends a request once. @returns a response with the status 2xx
   * @throws JackdawError, and the reason of an aborted signal
   */
  async open<Id extends OperationId>(
    id: Id,
    input: OperationInput<Id> & { readonly signal?: AbortSignal },
  ): Promise<Response> {
    const { method } = OPERATIONS[id];
    const { body, signal } = input as { readonly body?: unknown; readonly signal?: AbortSignal };
    const headers = {
      ...this.headers,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...input.headers,
    };
    const init = {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    };
    const response = await this.send(this.urlOf(id, input), init).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw lostConnection(error);
    });
    if (!response.ok) throw await JackdawError.of(response);
    return response;
  }

  private async repeat<Id extends OperationId>(
    id: Id,
    input: OperationInput<Id> & { readonly signal: AbortSignal },
  ): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await readJson(await this.open(id, input), input.signal);
      } catch (error) {
        if (attempt > this.retries || !isRetryable(error, OPERATIONS[id].isRepeatable)) throw error;
        await pause(delayOf(attempt, error), input.signal);
        input.signal.throwIfAborted();
      }
    }
  }

  private urlOf(id: OperationId, input: object): string {
    const { path, query } = input as {
      readonly path?: Record<string, string>;
      readonly query?: Record<string, string | number | undefined>;
    };
    const filled = OPERATIONS[id].path
      .replace(/^\/api/, '')
      .replace(/\{(\w+)\}/g, (_, name: string) => segmentOf(name, path?.[name]));
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) search.set(name, String(value));
    return `${this.base}${filled}${search.size > 0 ? `?${search.toString()}` : ''}`;
  }
}

/** A path parameter. @throws TypeError for a value that would make the path that of another route */
function segmentOf(name: string, value = ''): string {
  if (['', '.', '..'].includes(value)) throw new TypeError(`Invalid ${name} of a request: "${value}".`);
  return encodeURIComponent(value);
}

/** A request that creates something has a key, so that its repetition has no second effect. */
function keyOf(id: OperationId, key: string | undefined): Record<string, string> {
  const { method, isRepeatable } = OPERATIONS[id];
  return isRepeatable && method === 'POST' ? { 'idempotency-key': key ?? newKey() } : {};
}

async function readJson(response: Response, signal: AbortSignal): Promise<unknown> {
  const text = await response.text().catch((error: unknown) => {
    signal.throwIfAborted();
    throw lostConnection(error);
  });
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const message = `The answer is no JSON: is ${response.url} a Jackdaw server?`;
    throw new JackdawError('INVALID_RESPONSE', message, { status: response.status, cause });
  }
}

export function lostConnection(cause: unknown): JackdawError {
  return new JackdawError('CONNECTION_FAILED', 'The connection to the server failed.', { cause });
}
