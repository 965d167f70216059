import { Injectable, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { RunItem } from '../run/index.js';

const HEARTBEAT_MS = 15_000;
const HEAD = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** Writes a run's events as server-sent events on the raw reply, no faster than the client reads. */
@Injectable()
export class EventStreamService {
  private readonly logger = new Logger(EventStreamService.name);

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
    raw.writeHead(200, { ...headersOf(reply), ...HEAD });
    raw.flushHeaders();
    const heartbeat = setInterval(() => raw.write(': heartbeat\n\n'), HEARTBEAT_MS);
    try {
      for await (const item of items) {
        if (!raw.write(toEvent(item))) await drained(raw, signal);
        if (signal.aborted) break;
      }
    } catch (error) {
      this.logger.error({ err: error, run_id }, 'A stream of events broke');
    } finally {
      clearInterval(heartbeat);
      raw.end();
    }
  }
}

/** An event as it goes over the wire; only a journaled one has a place to come back to. */
function toEvent({ n, event, data }: RunItem): string {
  const id = n === null ? '' : `id: ${n}\n`;
  return `${id}event: ${event.type}\ndata: ${data}\n\n`;
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
