import { Injectable, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { RunItem } from '../run/index.js';
import { HeartbeatRegistry } from './heartbeat.registry.js';

/** A client that takes nothing of what is there for so long is let go; it can come back with its last place. */
const STALLED_MS = 30_000;
const HEAD = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** Writes a run's events as server-sent events on the raw reply, no faster than the client reads. */
@Injectable()
export class EventStreamService {
  private readonly logger = new Logger(EventStreamService.name);

  constructor(private readonly heartbeats: HeartbeatRegistry) {}

  /**
   * Takes the reply over and writes until the items end or the client is gone. It never throws: a fault after the
   * first byte can only end the stream, and the client comes back with its last place.
   */
  async send(
    reply: FastifyReply,
    run_id: string,
    items: AsyncGenerator<RunItem, void>,
    signal: AbortSignal,
  ): Promise<void> {
    reply.hijack();
    const { raw } = reply;
    raw.on('error', () => undefined);
    raw.setTimeout(STALLED_MS, () => {
      if (raw.writableLength > 0) raw.destroy();
    });
    raw.writeHead(200, { ...headersOf(reply), ...HEAD });
    raw.flushHeaders();
    const stopHeartbeats = this.heartbeats.add(raw);
    try {
      for await (const item of items) {
        if (!raw.write(toEvent(item))) await drained(raw, signal);
        if (signal.aborted) break;
      }
    } catch (error) {
      this.logger.error({ err: error, run_id }, 'A stream of events broke');
    } finally {
      stopHeartbeats();
      raw.end();
    }
  }
}

/** An event as it goes over the wire; its id is the place to come back to. */
function toEvent({ id, event, data }: RunItem): string {
  return `${id === null ? '' : `id: ${id}\n`}event: ${event.type}\ndata: ${data}\n\n`;
}

async function drained(raw: ServerResponse, signal: AbortSignal): Promise<void> {
  try {
    await once(raw, 'drain', { signal });
  } catch {
    // The client is gone; the loop sees it by the signal.
  }
}

/** What hooks have put on the reply so far; hijacking would lose it. */
function headersOf(reply: FastifyReply): Record<string, string> {
  const headers = Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]);
  return Object.fromEntries(headers) as Record<string, string>;
}
