import type { Dispatcher } from 'undici';
import { withoutMark } from '../../kernel/index.js';
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
