import type {
  JSONRPCMessage,
  StreamableHTTPClientTransport,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client';

import type { MarkedIntegers } from '../../common/index.js';
import { withExactResult } from '../process/message.parser.js';

type Id = string | number;

/** Time for a server to end the stream of an answered request, in ms. */
const STREAM_END_MS = 1000;
/** Time-out of a message without a response, in ms. */
const NOTICE_MS = 10_000;
/** Maximum number of such messages in flight. */
const MAX_NOTICES = 64;

/** Error code of the response that replaces a missing one. */
export const STREAM_ENDED = -32_099;

/**
 * Streamable HTTP without leftover connections. The connection of a request ends with its response or its cancellation,
 * regardless of the server. A request whose stream ends without a response fails at once.
 */
export class RequestStreamsTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly hasPerRequestStream = true;
  private readonly streams = new Map<Id, AbortController>();
  private notices = 0;

  /** @param integers the marks set by the transport's `fetch` */
  constructor(
    private readonly inner: StreamableHTTPClientTransport,
    integers: MarkedIntegers,
  ) {
    Object.assign(inner, {
      onclose: () => this.onclose?.(),
      onerror: (error: Error) => this.onerror?.(error),
      onmessage: (parsed: JSONRPCMessage) => {
        const message = withExactResult(integers.restore(parsed) as JSONRPCMessage);
        if ('id' in message && !('method' in message)) this.answered(message.id);
        this.onmessage?.(message);
      },
    } satisfies Partial<Transport>);
  }

  get sessionId(): string | undefined {
    return this.inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion(version);
  }

  start(): Promise<void> {
    return this.inner.start();
  }

  async close(): Promise<void> {
    await this.inner.close();
    for (const stream of this.streams.values()) stream.abort();
    this.streams.clear();
  }

  send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    if ('method' in message && 'id' in message) return this.request(message, message.id, options);
    if ('method' in message && message.method === 'notifications/cancelled') {
      this.abandon((message.params as { requestId?: Id } | undefined)?.requestId);
    }
    return this.notify(message, options);
  }

  private async request(message: JSONRPCMessage, id: Id, options: TransportSendOptions): Promise<void> {
    const stream = new AbortController();
    this.streams.set(id, stream);
    options.requestSignal?.addEventListener('abort', () => this.abandon(id), { once: true });
    try {
      await this.inner.send(message, {
        ...options,
        requestSignal: stream.signal,
        onRequestStreamEnd: () => this.ended(id, options),
      });
    } catch (error) {
      this.streams.delete(id);
      throw error;
    }
  }

  /** Sends a message without a response, with a time-out. */
  private async notify(message: JSONRPCMessage, options: TransportSendOptions): Promise<void> {
    if (this.notices >= MAX_NOTICES) throw new Error('it accepts no more messages');
    this.notices++;
    try {
      await this.inner.send(message, { ...options, requestSignal: AbortSignal.timeout(NOTICE_MS) });
    } finally {
      this.notices--;
    }
  }

  private answered(id: Id | undefined): void {
    const stream = id === undefined ? undefined : this.streams.get(id);
    if (!stream) return;
    this.streams.delete(id!);
    setTimeout(() => stream.abort(), STREAM_END_MS).unref();
  }

  private abandon(id: Id | undefined): void {
    if (id === undefined) return;
    this.streams.get(id)?.abort();
    this.streams.delete(id);
  }

  private ended(id: Id, { onRequestStreamEnd }: TransportSendOptions): void {
    if (!this.streams.delete(id)) return;
    if (onRequestStreamEnd) return onRequestStreamEnd();
    const error = { code: STREAM_ENDED, message: 'it ended the stream before the response was complete' };
    this.onmessage?.({ jsonrpc: '2.0', id, error });
  }
}
