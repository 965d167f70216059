import type { FetchLike, JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { untilAborted } from '../../kernel/index.js';
import type { MarkedIntegers } from '../../kernel/json/index.js';
import { wellFormed } from '../../kernel/text/index.js';
import { withExactResult } from '../process/message.parser.js';
import { withRawResult } from '../process/raw-result.mapper.js';
import type { EndpointWait } from './server-transport.types.js';

/** An answer with an unexpected status; the members are those of the SDK's own error. */
export class HttpStatusError extends Error {
  readonly status: number;
  /** The whole body: it may repeat credentials, which are masked before it is cut. */
  readonly data: { readonly text: string };
  /** The header `WWW-Authenticate`, which says how to authenticate. */
  readonly challenge: string | null;

  constructor({ status, headers }: Response, text: string) {
    super(`HTTP ${status}`);
    this.name = new.target.name;
    this.status = status;
    this.data = { text };
    this.challenge = headers.get('www-authenticate');
  }

  static async of<E extends HttpStatusError>(
    this: new (response: Response, text: string) => E,
    response: Response,
  ): Promise<E> {
    return new this(response, await response.text().catch(() => ''));
  }
}

/** Without a provider the SDK drops the challenge of an answer 401. */
export function withChallenges(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.status !== 401) return response;
    throw await HttpStatusError.of(response);
  };
}

/** Time-out of the `endpoint` event, in ms. */
const START_TIMEOUT_MS = 30_000;

/**
 * Failures of the requests of one transport. The SDK replaces them by errors without status and body, and opens a
 * failed stream again and again.
 */
export class SseFailures {
  /** Why the event stream cannot be opened. */
  last: unknown;

  /** @param canAuthorize whether the SDK handles 401 */
  constructor(private readonly canAuthorize: boolean) {}

  /** Records the failures of the stream, and rejects messages that the server refuses. */
  watch(fetch: FetchLike, messageTimeoutMs: number): FetchLike {
    return async (url, init = {}) => {
      if (new Headers(init.headers).get('accept') === 'text/event-stream') return this.stream(fetch, url, init);
      if (!isMessage(init)) return fetch(url, init);
      const signals = [AbortSignal.timeout(messageTimeoutMs), ...(init.signal ? [init.signal] : [])];
      const response = await fetch(url, { ...init, signal: AbortSignal.any(signals) });
      if (response.status >= 400 && !this.isForSdk(response)) throw await HttpStatusError.of(response);
      return response;
    };
  }

  private async stream(fetch: FetchLike, url: string | URL, init: RequestInit): Promise<Response> {
    try {
      const response = await fetch(url, init);
      const { status, headers } = response;
      const isStream = status === 200 && headers.get('content-type')?.startsWith('text/event-stream');
      if (isStream || (status >= 300 && status < 400) || this.isForSdk(response)) return response;
      throw await HttpStatusError.of(response);
    } catch (error) {
      this.last = error;
      throw error;
    }
  }

  private isForSdk({ status }: Response): boolean {
    return status === 401 && this.canAuthorize;
  }
}

/**
 * HTTP with Server-Sent Events, the transport of 2024: a GET opens the stream of all messages to the client, whose first
 * event names the address for messages to the server. The end of the stream is the end of the connection.
 */
export class SseTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** Methods of unanswered requests, by their ids. */
  private readonly unanswered = new Map<unknown, string>();

  constructor(
    private readonly inner: Transport,
    private readonly failures: SseFailures,
    integers: MarkedIntegers,
    private readonly endpoint: EndpointWait = { timeoutMs: START_TIMEOUT_MS, isReceived: false },
  ) {
    Object.assign(inner, {
      onclose: () => this.onclose?.(),
      onerror: (error: Error) => this.failed(error),
      onmessage: (parsed: JSONRPCMessage) => this.receive(withExactResult(integers.restore(parsed) as JSONRPCMessage)),
    } satisfies Partial<Transport>);
  }

  /** @throws HttpStatusError for a GET without an event stream; Error if the server names no address for messages in time, or one of another origin */
  async start(): Promise<void> {
    const { timeoutMs } = this.endpoint;
    const late = new Error(`its event stream named no address for messages within ${timeoutMs} ms`);
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(late), timeoutMs);
    try {
      await untilAborted(this.inner.start(), limit.signal);
      this.endpoint.isReceived = true;
    } catch (error) {
      throw this.failures.last ?? error;
    } finally {
      clearTimeout(timer);
    }
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion?.(version);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if ('method' in message) {
      if ('id' in message) this.unanswered.set(message.id, message.method);
      else if (message.method === 'notifications/cancelled') this.unanswered.delete(message.params?.['requestId']);
    }
    await this.inner.send(wellFormed(message));
  }

  async close(): Promise<void> {
    await this.inner.close();
  }

  private receive(message: JSONRPCMessage): void {
    const isResponse = 'id' in message && !('method' in message);
    const method = isResponse ? this.unanswered.get(message.id) : undefined;
    if (isResponse) this.unanswered.delete(message.id);
    this.onmessage?.(withRawResult(message, method));
  }

  private failed(error: Error): void {
    // Only the SDK's errors of a stream have an event.
    const { event } = error as { readonly event?: { readonly message?: string } };
    if (!event || !this.endpoint.isReceived) return this.onerror?.(error);
    const why = event.message === undefined ? 'ended' : `failed: ${event.message}`;
    this.onerror?.(new Error(`its event stream ${why}`, { cause: error }));
    void this.inner.close();
  }
}

/** OAuth sends other requests with the same `fetch`. */
function isMessage({ method, body }: RequestInit): boolean {
  return method === 'POST' && typeof body === 'string' && body.includes('"jsonrpc"');
}
