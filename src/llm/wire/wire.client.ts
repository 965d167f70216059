import type { Dispatcher } from 'undici';
import { createHash, createHmac } from 'node:crypto';
import type { LlmConfig } from '../../config/namespaces/index.js';
import { AppError, exportsOf, messageOf } from '../../errors/index.js';
import { ExactInteger, withoutMark } from '../../kernel/json/index.js';
import { outgoingTraceParent } from '../../telemetry/index.js';
import type { CallOptions, ParameterName } from '../chat/chat.types.js';
import { AdaptationRegistry } from './adaptation.registry.js';
import { ExchangeHandler, type ExchangeLimits, type ReplyHead } from './exchange.handler.js';
import { toConnectionFailure, toStatusFailure } from './wire-failure.mapper.js';

/** A shared key that receivers identify by its id. */
interface SigningKey {
  readonly id: string;
  /** Base64. */
  readonly key: string;
}

/** The signed parts of a request. */
interface SignedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly body: string;
}

const COMPONENTS = '("@method" "@path" "@query" "content-digest")';

/**
 * Headers that authenticate a request and protect its integrity: an HTTP message signature with HMAC-SHA256 (RFC 9421)
 * over method, path, query and the body's digest (RFC 9530).
 * @param now epoch ms
 */
export function signatureHeaders(request: SignedRequest, { id, key }: SigningKey, now: number): [string, string][] {
  const digest = `sha-256=:${createHash('sha256').update(request.body).digest('base64')}:`;
  const parameters = `${COMPONENTS};created=${Math.floor(now / 1000)};keyid="${id}";alg="hmac-sha256"`;
  const [path, query = ''] = split(request.path);
  const base = [
    `"@method": ${request.method}`,
    `"@path": ${path}`,
    `"@query": ?${query}`,
    `"content-digest": ${digest}`,
    `"@signature-params": ${parameters}`,
  ].join('\n');
  const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(base).digest('base64');
  return [
    ['content-digest', digest],
    ['signature-input', `jackdaw=${parameters}`],
    ['signature', `jackdaw=:${signature}:`],
  ];
}

function split(path: string): [string, string?] {
  const at = path.indexOf('?');
  return at === -1 ? [path] : [path.slice(0, at), path.slice(at + 1)];
}

/** Lifetime of an idle connection, in ms, unless the server announces a shorter one. */
const KEEP_ALIVE_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;

export interface HttpOptions {
  /** Maximum time of the TCP and TLS handshake, in ms. */
  readonly connectTimeoutMs?: number;
  /** Signs every request. */
  readonly signingKey?: SigningKey;
  /** Proxies of the environment; without them connections are direct. */
  readonly proxy?: NonNullable<LlmConfig['proxy']>;
  /** Parameters that requests may omit if the provider refuses them, although a caller set them. */
  readonly droppable?: readonly ParameterName[];
}

/** The configured options of the pool. */
export function httpOptions({ resilience, signingKeys, droppable, proxy }: LlmConfig): HttpOptions {
  const [signingKey] = signingKeys;
  return {
    connectTimeoutMs: resilience.connectTimeoutMs,
    ...(signingKey && { signingKey }),
    ...(droppable && { droppable }),
    ...(proxy && { proxy }),
  };
}

/**
 * The pool of keep-alive connections to all providers, and the changes of requests that providers required. The first
 * call loads `undici`.
 */
export class HttpClient {
  readonly adaptations: AdaptationRegistry;
  private agent?: Promise<Dispatcher>;
  private closed = false;

  constructor(private readonly options: HttpOptions = {}) {
    this.adaptations = new AdaptationRegistry(options.droppable);
  }

  /** Returns the pool. @throws AppError `SHUTTING_DOWN` after `close()` */
  async open(): Promise<Dispatcher> {
    if (this.closed) throw new AppError('SHUTTING_DOWN', 'The server is shutting down; no further model call starts.');
    this.agent ??= createAgent(this.options);
    const agent = await this.agent;
    const { signingKey } = this.options;
    return signingKey ? agent.compose(signing(signingKey)) : agent;
  }

  async close(): Promise<void> {
    this.closed = true;
    const agent = await this.agent;
    await agent?.destroy();
  }
}

async function createAgent({ connectTimeoutMs = CONNECT_TIMEOUT_MS, proxy }: HttpOptions): Promise<Dispatcher> {
  const undici = exportsOf(await import('undici'));
  // The exchange has its own timers: undici's are coarse (about 1 s) and stop between phases.
  const options = {
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { timeout: connectTimeoutMs },
  };
  if (!proxy) return new undici.Agent(options);
  return new undici.EnvHttpProxyAgent({ ...options, ...proxy, connectTimeout: connectTimeoutMs });
}

/** Each attempt has its own signature and time. */
function signing(key: SigningKey): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const { method, path, body, headers } = options;
    const signed = signatureHeaders({ method, path, body: body as string }, key, Date.now());
    const all = [...(headers as Iterable<[string, string]>), ...signed];
    return dispatch({ ...options, headers: all.flat() }, handler);
  };
}

/** How an endpoint of a provider receives requests. */
export interface WireEndpoint {
  readonly url: URL;
  /** Headers of the request with this body. */
  headersOf(body: Readonly<Record<string, unknown>>): Headers;
}

/** Headers of every request; names in `further` replace the defaults, also in another case. */
export function wireHeaders(...further: readonly Readonly<Record<string, string>>[]): Headers {
  const headers = new Headers({
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'user-agent': 'jackdaw',
  });
  for (const each of further) for (const [name, value] of Object.entries(each)) headers.set(name, value);
  return headers;
}

type Body = Readonly<Record<string, unknown>>;

/** The JSON of converted tools: an agent passes the same list with every call, and it is most of a short request. */
const toolTexts = new WeakMap<readonly object[], string>();

/** A request to a provider: its body, which does not change, and its JSON. */
export class WireRequest {
  /** As `JSON.stringify(body)`. */
  readonly json: string;

  constructor(readonly body: Body) {
    this.json = toJson(body);
  }

  /** The JSON to send. U+FFFD replaces unpaired surrogates: strict parsers reject the whole body for one. */
  get text(): string {
    return MAYBE_UNPAIRED.test(this.json) ? JSON.stringify(toWellFormed(this.body)) : this.json;
  }
}

function toJson(body: Body): string {
  const { tools } = body;
  if (!Array.isArray(tools)) return JSON.stringify(body);
  const members = Object.entries(body).map(([key, value]) => {
    const json: string | undefined = value === tools ? toolsJson(tools) : JSON.stringify(value);
    return json === undefined ? undefined : `${JSON.stringify(key)}:${json}`;
  });
  return `{${members.filter((member) => member !== undefined).join(',')}}`;
}

function toolsJson(tools: readonly object[]): string {
  let text = toolTexts.get(tools);
  if (text === undefined) toolTexts.set(tools, (text = JSON.stringify(tools)));
  return text;
}

/** `JSON.stringify` writes an unpaired surrogate as an escape; a backslash in a text may look the same. */
const MAYBE_UNPAIRED = /\\ud[89a-f]/;

function toWellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null || value instanceof ExactInteger) return value;
  if (Array.isArray(value)) return value.map(toWellFormed);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key.toWellFormed(), toWellFormed(one)]));
}

/** A reply, of which the caller reads the body. */
export class WireResponse {
  readonly status: number;
  readonly headers: ReplyHeaders;
  private read?: Promise<string>;

  constructor(
    head: ReplyHead,
    readonly body: ExchangeHandler,
  ) {
    this.status = head.status;
    this.headers = new ReplyHeaders(head.headers);
  }

  /** The whole body; may be called again. */
  text(): Promise<string> {
    this.read ??= this.readAll();
    return this.read;
  }

  private async readAll(): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.body) chunks.push(chunk);
    const whole = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
    return withoutMark(whole.toString('utf8'));
  }
}

class ReplyHeaders {
  constructor(private readonly values: ReplyHead['headers']) {}

  get(name: string): string | null {
    const value = this.values[name.toLowerCase()];
    return value === undefined ? null : String(value);
  }
}

/** An endpoint of a provider, as its models use it. */
export interface ModelClient {
  /**
   * Sends a request; the caller reads the reply.
   *
   * @param spentMs time of the call before this request, in ms
   * @throws WireFailure; the signal's reason if it is already aborted
   */
  send(request: WireRequest, options: CallOptions, spentMs?: number): Promise<WireResponse>;
}

type ReplyLimits = Omit<ExchangeLimits, 'signal'>;

/**
 * One endpoint of a provider. It writes requests and reads replies itself: the SDKs of OpenAI and Anthropic would add
 * 68 MB to an installation and take 0.3 s to load, while their retries, `fetch` and streams cannot be used
 * (docs/decisions/0076).
 */
export class WireClient implements ModelClient {
  private readonly limits: ReplyLimits;

  constructor(
    { timeoutMs, idleMs, totalMs, intervalMs }: ReplyLimits,
    private readonly http: HttpClient,
    private readonly endpoint: WireEndpoint,
  ) {
    this.limits = { timeoutMs, idleMs, totalMs, intervalMs };
  }

  async send(request: WireRequest, { signal }: CallOptions, spentMs = 0): Promise<WireResponse> {
    signal?.throwIfAborted();
    const pool = await this.http.open();
    const { totalMs, ...limits } = this.limits;
    const restMs = totalMs === undefined ? undefined : Math.max(1, totalMs - spentMs);
    const response = await this.post(pool, request, { signal, ...limits, totalMs: restMs });
    if (response.status < 300) return response;
    const text = await response.text().catch(messageOf);
    throw toStatusFailure({ status: response.status, headers: response.headers, text });
  }

  /** Resolves as soon as the reply starts. */
  private async post(pool: Dispatcher, { body, text }: WireRequest, limits: ExchangeLimits): Promise<WireResponse> {
    const { url } = this.endpoint;
    const exchange = new ExchangeHandler(limits);
    const request = { headers: traced(this.endpoint.headersOf(body)), body: text };
    try {
      pool.dispatch({ origin: url.origin, path: url.pathname + url.search, method: 'POST', ...request }, exchange);
      return new WireResponse(await exchange.head, exchange);
    } catch (cause) {
      throw limits.signal?.aborted ? cause : toConnectionFailure(cause);
    }
  }
}

/** Adds the present span; the headers of an endpoint are shared by its requests. */
function traced(headers: Headers): Headers {
  const traceparent = outgoingTraceParent();
  if (traceparent === undefined) return headers;
  const all = new Headers(headers);
  all.set('traceparent', traceparent);
  return all;
}
