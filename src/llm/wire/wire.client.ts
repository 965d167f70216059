import type { Dispatcher } from 'undici';
import { messageOf } from '../../errors/index.js';
import { withoutMark } from '../../kernel/index.js';
import { outgoingTraceParent } from '../../telemetry/index.js';
import type { CallOptions } from '../chat.types.js';
import type { HttpClient } from '../http.client.js';
import { ExchangeHandler, type ExchangeLimits, type ReplyHead } from './exchange.handler.js';
import { toConnectionFailure, toStatusFailure } from './wire-failure.mapper.js';

/** How an endpoint of a provider receives requests. */
export interface WireEndpoint {
  readonly url: URL;
  /** Headers of the request with this body. */
  headersOf(body: Readonly<Record<string, unknown>>): Headers;
  /** @returns JSON */
  write(body: Readonly<Record<string, unknown>>): string;
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
  send(body: Record<string, unknown>, options: CallOptions, spentMs?: number): Promise<WireResponse>;
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
    { timeoutMs, idleMs, totalMs }: ReplyLimits,
    private readonly http: HttpClient,
    private readonly endpoint: WireEndpoint,
  ) {
    this.limits = { timeoutMs, idleMs, totalMs };
  }

  async send(body: Record<string, unknown>, { signal }: CallOptions, spentMs = 0): Promise<WireResponse> {
    signal?.throwIfAborted();
    const pool = await this.http.open();
    const { totalMs, ...limits } = this.limits;
    const restMs = totalMs === undefined ? undefined : Math.max(1, totalMs - spentMs);
    const response = await this.post(pool, body, { signal, ...limits, totalMs: restMs });
    if (response.status < 300) return response;
    const text = await response.text().catch(messageOf);
    throw toStatusFailure({ status: response.status, headers: response.headers, text });
  }

  /** Resolves as soon as the reply starts. */
  private async post(pool: Dispatcher, body: Record<string, unknown>, limits: ExchangeLimits): Promise<WireResponse> {
    const { url } = this.endpoint;
    const exchange = new ExchangeHandler(limits);
    const request = { headers: traced(this.endpoint.headersOf(body)), body: this.endpoint.write(body) };
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
