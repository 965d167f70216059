import type {
  JSONRPCMessage,
  StreamableHTTPClientTransport,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client';

import type { MarkedIntegers } from '../../common/index.js';
import { withExactResult } from '../process/message.parser.js';

type Id = string | number;

/** How long a server has to end a stream whose request it has answered, in ms. */
const STREAM_END_MS = 1000;
/** How long a server has to take a message that it need not answer, in ms. */
const NOTICE_MS = 10_000;
/** How many of those may be on their way. */
const MAX_NOTICES = 64;

/** The code of the answer that is put in the place of one that can no longer come. */
export const STREAM_ENDED = -32_099;

/**
 * Streamable HTTP of which no connection is left open: that of a request ends with its answer, or when it is given up,
 * whatever the server does; and a request whose stream has ended fails at once.
 */
export class RequestStreamsTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly hasPerRequestStream = true;
  private readonly streams = new Map<Id, AbortController>();
  private notices = 0;

  /** @param integers those that the transport's `fetch` has marked */
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
      this.giveUp((message.params as { requestId?: Id } | undefined)?.requestId);
    }
    return this.tell(message, options);
  }

  private async request(message: JSONRPCMessage, id: Id, options: TransportSendOptions): Promise<void> {
    const stream = new AbortController();
    this.streams.set(id, stream);
    options.requestSignal?.addEventListener('abort', () => this.giveUp(id), { once: true });
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

  /** What needs no answer is not waited for without an end. */
  private async tell(message: JSONRPCMessage, options: TransportSendOptions): Promise<void> {
    if (this.notices >= MAX_NOTICES) throw new Error('it takes no more messages');
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

  private giveUp(id: Id | undefined): void {
    if (id === undefined) return;
    this.streams.get(id)?.abort();
    this.streams.delete(id);
  }

  private ended(id: Id, { onRequestStreamEnd }: TransportSendOptions): void {
    if (!this.streams.delete(id)) return;
    if (onRequestStreamEnd) return onRequestStreamEnd();
    const error = { code: STREAM_ENDED, message: 'it ended its answer before it was complete' };
    this.onmessage?.({ jsonrpc: '2.0', id, error });
  }
}
