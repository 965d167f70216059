import type { Dispatcher } from 'undici';
import { withoutMark } from '../../kernel/index.js';
import type { CallOptions } from '../chat.types.js';
import type { HttpClient } from '../http.client.js';
import { ExchangeHandler, type ExchangeLimits, type ReplyHead } from './exchange.handler.js';

/** A request; the SDK passes it unchanged from `buildRequest` to `fetch`. */
export interface WireRequest {
  readonly headers: Iterable<[string, string]>;
  readonly body: string;
  readonly limits: ExchangeLimits;
}

/** The subset of `Response` that the SDK and the chat model use. */
export class WireResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: ReplyHeaders;
  /** Empty, since the SDK would parse a URL for its disabled log. */
  readonly url = '';
  private read?: Promise<string>;

  constructor(
    head: ReplyHead,
    readonly body: ExchangeHandler,
  ) {
    this.status = head.status;
    this.ok = head.status >= 200 && head.status < 300;
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

  entries(): IterableIterator<[string, string]> {
    return Object.entries(this.values)
      .map(([name, value]): [string, string] => [name, String(value)])
      .values();
  }
}

/** Sends a request over the pool; resolves as soon as the reply starts. */
export async function post(pool: Dispatcher, url: URL, request: WireRequest): Promise<WireResponse> {
  const exchange = new ExchangeHandler(request.limits);
  const { headers, body } = request;
  pool.dispatch({ origin: url.origin, path: url.pathname + url.search, method: 'POST', headers, body }, exchange);
  return new WireResponse(await exchange.head, exchange);
}

/** A provider's SDK, bound to one endpoint. */
export interface EndpointClient {
  /** Sends a request; the caller reads the reply. @throws WireFailure */
  send(body: Record<string, unknown>, limits: ExchangeLimits): Promise<WireResponse>;
}

/** An endpoint of a provider, as its models use it. */
export interface ModelClient {
  /**
   * Sends a request; the caller reads the reply.
   *
   * @param spentMs time of the call before this request, in ms
   * @throws WireFailure; the signal's reason if it is already aborted
   */
  send(body: Record<string, unknown>, options: CallOptions, spentMs?: number): Promise<WireResponse>;
}

type ReplyLimits = Omit<ExchangeLimits, 'signal'>;

/** Loads an SDK; returns a function that binds it to a pool. */
export type SdkLoader = () => Promise<(pool: Dispatcher) => EndpointClient>;

/** One endpoint of a provider. The first call loads the SDK, which takes over 100 ms. */
export class WireClient implements ModelClient {
  private client?: Promise<EndpointClient>;

  private readonly limits: ReplyLimits;

  constructor(
    { timeoutMs, idleMs, totalMs }: ReplyLimits,
    private readonly http: HttpClient,
    private readonly load: SdkLoader,
  ) {
    this.limits = { timeoutMs, idleMs, totalMs };
  }

  async send(body: Record<string, unknown>, { signal }: CallOptions, spentMs = 0): Promise<WireResponse> {
    signal?.throwIfAborted();
    this.client ??= this.connect();
    const client = await this.client;
    const { totalMs, ...limits } = this.limits;
    const restMs = totalMs === undefined ? undefined : Math.max(1, totalMs - spentMs);
    return client.send(body, { signal, ...limits, totalMs: restMs });
  }

  /** The next call retries a failed load. */
  private async connect(): Promise<EndpointClient> {
    try {
      const [bind, pool] = await Promise.all([this.load(), this.http.open()]);
      return bind(pool);
    } catch (error) {
      delete this.client;
      throw error;
    }
  }
}
