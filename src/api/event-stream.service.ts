import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Log } from '../errors/index.js';
import { RunItem } from '../run/index.js';
import { HeartbeatRegistry } from './heartbeat.registry.js';

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

/** Writes a run's events as server-sent events on the raw reply, no faster than the client reads. */
@Injectable()
export class EventStreamService {
  private readonly logger = new Log(EventStreamService.name);

  constructor(private readonly heartbeats: HeartbeatRegistry) {}

  /**
   * Takes over the reply and writes until the items end or the client disconnects. It never throws: after the first
   * byte an error can only end the stream, and the client resumes from its last event id.
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
    const stalled = whenStalled(raw);
    const ends = AbortSignal.any([signal, stalled]);
    raw.writeHead(200, { ...headersOf(reply), ...HEAD });
    raw.flushHeaders();
    const stopHeartbeats = this.heartbeats.add(raw);
    try {
      for await (const item of items) {
        if (!raw.write(toEvent(item))) await drained(raw, ends);
        if (ends.aborted) break;
      }
      if (stalled.aborted) raw.write(toEvent(slowReader(run_id)));
    } catch (error) {
      this.logger.error({ err: error, run_id }, 'Event stream failed');
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

function slowReader(run_id: string): RunItem {
  return new RunItem(null, Date.now(), { type: 'stream.closed', run_id, code: 'SLOW_READER' });
}

/** An event in its wire format. Its id is the position to resume from. */
function toEvent({ id, event, data }: RunItem): string {
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
