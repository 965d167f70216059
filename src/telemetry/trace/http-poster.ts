import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { once } from 'node:events';
import type { TracingConfig } from '../tracing.js';

/** Longest answer that is read, in bytes. */
const MAX_ANSWER = 65_536;

export interface PostAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Posts JSON to one address, over connections of its own, without redirects. */
export class HttpPoster {
  private readonly url: URL;
  private readonly agent: http.Agent;
  private readonly closing = new AbortController();

  constructor(private readonly config: Pick<TracingConfig, 'url' | 'headers' | 'timeoutMs'>) {
    this.url = new URL(config.url);
    const options = { keepAlive: true, maxSockets: 1 };
    this.agent = this.url.protocol === 'https:' ? new https.Agent(options) : new http.Agent(options);
  }

  /** The address, without a password and a query, which may have a key. */
  get shownUrl(): string {
    return this.url.origin + this.url.pathname;
  }

  /** @throws Error without a whole answer in time */
  async post(body: string): Promise<PostAnswer> {
    const { url, agent } = this;
    const { headers, timeoutMs } = this.config;
    const signal = AbortSignal.any([this.closing.signal, AbortSignal.timeout(timeoutMs)]);
    const { request } = url.protocol === 'https:' ? https : http;
    const sent = request(url, {
      agent,
      signal,
      method: 'POST',
      headers: {
        'user-agent': 'jackdaw',
        ...headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
    });
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: answer.statusCode ?? 0, headers: answer.headers, text: await textOf(answer) };
  }

  close(): void {
    this.closing.abort();
    this.agent.destroy();
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    if (size < MAX_ANSWER) chunks.push(chunk);
    size += chunk.length;
  }
  return Buffer.concat(chunks).toString('utf8');
}
