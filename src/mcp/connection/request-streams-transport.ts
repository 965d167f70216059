import type { JSONRPCMessage, JSONRPCRequest, Transport, TransportSendOptions } from '@modelcontextprotocol/client';

import type { MarkedIntegers } from '../../kernel/json/index.js';
import { wellFormed } from '../../kernel/text/index.js';
import { withExactResult } from '../process/message.parser.js';
import { withRawResult } from '../process/raw-result.mapper.js';

type Id = string | number;

/** A request without a response yet. */
interface OpenRequest {
  readonly method: string;
  readonly stream: AbortController;
}

/** Time for a server to end the stream of an answered request, in ms. */
const STREAM_END_MS = 1000;
/** Time-out of a message without a response, in ms. */
const NOTICE_MS = 10_000;
/** Maximum number of such messages in flight. */
const MAX_NOTICES = 64;

/** Error code of the response that replaces a missing one. */
export const STREAM_ENDED = -32_099;
const METHOD_NOT_FOUND = -32_601;

/** The SDK's first request: does the server support the newest protocol? */
export const PROBE = 'server/discover';
/** The SDK's code for a response that is neither JSON nor an event stream. */
const UNEXPECTED_CONTENT = 'CLIENT_HTTP_UNEXPECTED_CONTENT';

export interface RequestStreamsOptions {
  /** The marks set by the transport's `fetch`. */
  readonly integers: MarkedIntegers;
  /** Whether a person must consent before a server accepts requests. */
  readonly needsConsent: boolean;
}

/**
 * Streamable HTTP without leftover connections. The connection of a request ends with its response or its cancellation,
 * regardless of the server. A request whose stream ends without a response fails at once.
 */
export class RequestStreamsTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly hasPerRequestStream = true;
  private readonly requests = new Map<Id, OpenRequest>();
  private notices = 0;

  constructor(
    private readonly inner: Transport,
    private readonly options: RequestStreamsOptions,
  ) {
    const { integers } = options;
    Object.assign(inner, {
      onclose: () => this.onclose?.(),
      onerror: (error: Error) => {
        if (isUnreadable(error)) this.endProbes();
        this.onerror?.(error);
      },
      onmessage: (parsed: JSONRPCMessage) => {
        const message = withExactResult(integers.restore(parsed) as JSONRPCMessage);
        if ('id' in message && !('method' in message)) this.receive(message, message.id);
        else this.onmessage?.(message);
      },
    } satisfies Partial<Transport>);
  }

  get sessionId(): string | undefined {
    return this.inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion?.(version);
  }

  start(): Promise<void> {
    return this.inner.start();
  }

  async close(): Promise<void> {
    await this.inner.close();
    for (const { stream } of this.requests.values()) stream.abort();
    this.requests.clear();
  }

  send(given: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    const message = wellFormed(given);
    if ('method' in message && 'id' in message) return this.request(message, options);
    if ('method' in message && message.method === 'notifications/cancelled') {
      this.abandon((message.params as { requestId?: Id } | undefined)?.requestId);
    }
    return this.notify(message, options);
  }

  private async request(message: JSONRPCRequest, options: TransportSendOptions): Promise<void> {
    const { id, method } = message;
    const stream = new AbortController();
    this.requests.set(id, { method, stream });
    options.requestSignal?.addEventListener('abort', () => this.abandon(id), { once: true });
    try {
      await this.inner.send(message, {
        ...options,
        requestSignal: stream.signal,
        onRequestStreamEnd: () => this.ended(id, options),
      });
    } catch (error) {
      if (method !== PROBE || !this.isUnrecognised(error)) {
        this.requests.delete(id);
        throw error;
      }
      this.endProbes();
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

  private receive(response: JSONRPCMessage, id: Id | undefined): void {
    const request = id === undefined ? undefined : this.requests.get(id);
    if (!request) this.endProbes();
    else {
      this.requests.delete(id!);
      setTimeout(() => request.stream.abort(), STREAM_END_MS).unref();
    }
    this.onmessage?.(withRawResult(response, request?.method));
  }

  /** After an unrecognised response to its probe, the SDK initializes an older protocol. */
  private endProbes(): void {
    const error = { code: METHOD_NOT_FOUND, message: 'The response was not recognised.' };
    for (const [id, { method }] of this.requests) if (method === PROBE) this.receive({ jsonrpc: '2.0', id, error }, id);
  }

  /** Another request of the server may succeed, unless a person must consent first. */
  private isUnrecognised(error: unknown): boolean {
    const { name, code, status } = error as { name?: unknown; code?: unknown; status?: unknown };
    if (name === 'UnauthorizedError') return !this.options.needsConsent;
    return (
      isUnreadable(error) ||
      name === 'InsufficientScopeError' ||
      code === UNEXPECTED_CONTENT ||
      (typeof status === 'number' && (status === 401 || status === 403 || status >= 500))
    );
  }

  private abandon(id: Id | undefined): void {
    if (id === undefined) return;
    this.requests.get(id)?.stream.abort();
    this.requests.delete(id);
  }

  private ended(id: Id, { onRequestStreamEnd }: TransportSendOptions): void {
    if (!this.requests.delete(id)) return;
    if (onRequestStreamEnd) return onRequestStreamEnd();
    const error = { code: STREAM_ENDED, message: 'it ended the stream before the response was complete' };
    this.onmessage?.({ jsonrpc: '2.0', id, error });
  }
}

/** Whether a message was no JSON, or no message of the protocol. */
function isUnreadable(error: unknown): boolean {
  return /^SyntaxError$|ZodError$/.test(String((error as { name?: unknown } | null)?.name));
}
