import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { serverConfig, type ServerConfig } from '../config/namespaces/index.js';
import { Log } from '../errors/index.js';

const HEARTBEAT = ': heartbeat\n\n';

/** Heartbeats of open streams. One timer serves all streams and writes to one share of them each second. */
@Injectable()
export class HeartbeatRegistry {
  /** One share for each second of the interval. */
  private readonly shares: readonly Set<Writable>[];
  private second = 0;
  private size = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(@Inject(serverConfig.KEY) { heartbeatSeconds }: Pick<ServerConfig, 'heartbeatSeconds'>) {
    this.shares = Array.from({ length: heartbeatSeconds }, () => new Set<Writable>());
  }

  /** @returns a function that stops the heartbeats */
  add(stream: Writable): () => void {
    // The share that is due last: a new stream needs no heartbeat yet.
    const share = this.shares[(this.second + this.shares.length - 1) % this.shares.length]!;
    share.add(stream);
    this.size++;
    this.timer ??= setInterval(() => this.beat(), 1_000).unref();
    return () => {
      if (!share.delete(stream) || --this.size > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
    };
  }

  private beat(): void {
    // A client with unread data needs no heartbeat.
    for (const stream of this.shares[this.second]!) if (stream.writableLength === 0) stream.write(HEARTBEAT);
    this.second = (this.second + 1) % this.shares.length;
  }
}

/**
 * A client that reads none of the pending data for this time gets a last event, `stream.closed`, and is disconnected if it
 * does not read that in the same time, in ms. It can resume from its last event id.
 */
const STALLED_MS = 30_000;
const HEAD = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** A server-sent event. */
export interface StreamItem {
  /** The position to resume from; `null` if the event has none. */
  readonly id: string | null;
  readonly event: { readonly type: string };
  /** JSON text. */
  readonly data: string;
}

interface FrameSource<T> {
  readonly pieces: AsyncGenerator<T, void>;
  readonly toFrame: (piece: T) => string;
  /** The last frame for a slow client. */
  readonly closing: string;
}

/** Writes server-sent events on the raw reply, no faster than the client reads. */
@Injectable()
export class EventStreamService {
  private readonly logger = new Log(EventStreamService.name);

  constructor(private readonly heartbeats: HeartbeatRegistry) {}

  /** Writes the items as events with their positions. */
  send(
    reply: FastifyReply,
    about: { readonly run_id?: string },
    items: AsyncGenerator<StreamItem, void>,
    signal: AbortSignal,
  ): Promise<void> {
    const stream = { pieces: items, toFrame: toEvent, closing: toEvent(slowReader(about)) };
    return this.write(reply, about, stream, signal);
  }

  /**
   * Writes frames until they end or the client disconnects.
   * @param about names the run of the stream, for the log
   * @param frames whole events in wire format
   * @param closing the last frame for a slow client
   */
  sendFrames(
    reply: FastifyReply,
    about: { readonly run_id?: string },
    frames: AsyncGenerator<string, void>,
    signal: AbortSignal,
    closing = '',
  ): Promise<void> {
    return this.write(reply, about, { pieces: frames, toFrame: (frame) => frame, closing }, signal);
  }

  /**
   * Takes over the reply. It never throws: after the first byte an error can only end the stream, and the client
   * resumes from its last event id.
   */
  private async write<T>(
    reply: FastifyReply,
    about: { readonly run_id?: string },
    { pieces, toFrame, closing }: FrameSource<T>,
    signal: AbortSignal,
  ): Promise<void> {
    reply.hijack();
    const { raw } = reply;
    raw.on('error', () => undefined);
    const stalled = whenStalled(raw);
    const ends = AbortSignal.any([signal, stalled]);
    raw.writeHead(200, { ...headersOf(reply), ...HEAD });
    raw.flushHeaders();
    const stopHeartbeats = this.heartbeats.add(raw);
    try {
      for await (const piece of pieces) {
        if (!raw.write(toFrame(piece))) await drained(raw, ends);
        if (ends.aborted) break;
      }
      if (stalled.aborted && closing !== '') raw.write(closing);
    } catch (error) {
      this.logger.error({ err: error, ...about }, 'Event stream failed');
    } finally {
      stopHeartbeats();
      raw.end();
    }
  }
}

/** A signal that aborts when the client makes no progress. Node restarts the time when the socket has sent some bytes. */
function whenStalled(raw: ServerResponse): AbortSignal {
  const controller = new AbortController();
  raw.setTimeout(STALLED_MS, () => {
    if (raw.writableLength === 0) return;
    if (controller.signal.aborted) return void raw.destroy();
    controller.abort();
    raw.setTimeout(STALLED_MS);
  });
  return controller.signal;
}

function slowReader(about: { readonly run_id?: string }): StreamItem {
  const event = { type: 'stream.closed', ...about, code: 'SLOW_READER' };
  return { id: null, event, data: JSON.stringify(event) };
}

/** An event in its wire format. */
function toEvent({ id, event, data }: StreamItem): string {
  return `${id === null ? '' : `id: ${id}\n`}event: ${event.type}\ndata: ${data}\n\n`;
}

async function drained(raw: ServerResponse, signal: AbortSignal): Promise<void> {
  try {
    await once(raw, 'drain', { signal });
  } catch {
    // The client is gone or stalled; the loop in `send` sees the aborted signal.
  }
}

/** Headers that hooks have set on the reply; hijacking would drop them. */
function headersOf(reply: FastifyReply): Record<string, string> {
  const headers = Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]);
  return Object.fromEntries(headers) as Record<string, string>;
}
