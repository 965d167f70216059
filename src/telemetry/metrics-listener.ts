import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { AppError, messageOf } from '../errors/index.js';
import type { MetricRegistry } from './metric.registry.js';

/** The media type of the output. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const PATH = /^\/metrics\/?(\?|$)/;

/** The server of the metrics on their own port. It needs no key: only scrapers may reach the port. */
export class MetricsListener {
  private server: Server | undefined;

  constructor(private readonly metrics: MetricRegistry) {}

  /** The port, once it listens. */
  get port(): number | undefined {
    return (this.server?.address() as AddressInfo | null | undefined)?.port;
  }

  /** @throws AppError `CONFIG_INVALID` if the port is not available */
  async listen(port: number, host: string): Promise<void> {
    const server = createServer((request, response) => void this.answer(request, response));
    this.server = server;
    try {
      server.listen(port, host);
      await once(server, 'listening');
      // An idle host process may end.
      server.unref();
    } catch (cause) {
      const message = `The metrics cannot be served on port ${port} of ${host} (METRICS_PORT, METRICS_HOST): ${messageOf(cause)}.`;
      throw new AppError('CONFIG_INVALID', message, { cause });
    }
  }

  /** Closes the port and its connections; a scraper keeps its connection open otherwise. */
  async close(): Promise<void> {
    const { server } = this;
    if (!server?.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  private async answer({ method, url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!PATH.test(url)) return end(response, 404, 'GET /metrics serves the metrics.\n');
    if (method !== 'GET' && method !== 'HEAD') return end(response, 405, 'GET /metrics serves the metrics.\n');
    const text = await this.metrics.text();
    response.setHeader('content-type', METRICS_TYPE);
    end(response, 200, text);
  }
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status).end(text);
}
