import { createHash, createHmac } from 'node:crypto';
import type { Dispatcher } from 'undici';
import type { LlmConfig } from '../config/index.js';
import { AppError, exportsOf } from '../errors/index.js';
import type { ParameterName } from './chat.types.js';
import { AdaptationRegistry } from './wire/adaptation.registry.js';

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
