import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TICK_MS } from './worker-health.js';
import type { SupervisorSettings } from './worker-message.types.js';
import type { WorkerProcess } from './worker-process.js';

const TIMEOUT_MS = 5_000;
const MAX_CONNECTIONS = 256;
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The ports of a server that its workers cannot share: `HEALTH_PORT` and `METRICS_PORT`. */
export class SupervisorPorts {
  /** Lines for the log. */
  readonly lines: string[] = [];
  private readonly servers: Server[] = [];
  private readonly ticks = setInterval(() => {
    for (const { health } of this.workers) health.tick();
  }, TICK_MS).unref();
  private isDraining = false;

  constructor(
    private readonly workers: ReadonlySet<WorkerProcess>,
    private readonly metrics: () => Promise<string>,
  ) {}

  /** @throws Error if a port is not available */
  async open(settings: SupervisorSettings): Promise<void> {
    const { healthPort, healthHost, metricsPort, metricsHost, prefix } = settings;
    if (healthPort !== undefined) {
      const serve = (request: IncomingMessage, response: ServerResponse) =>
        this.answerHealth(request, response, prefix);
      const port = await this.listen(serve, healthPort, healthHost, 'HEALTH_PORT');
      this.lines.push(`Health checks at port ${port} of ${healthHost}, without a key`);
    }
    if (metricsPort !== undefined) {
      const serve = (request: IncomingMessage, response: ServerResponse) => void this.answerMetrics(request, response);
      const port = await this.listen(serve, metricsPort, metricsHost, 'METRICS_PORT');
      const host = metricsHost.includes(':') && !metricsHost.startsWith('[') ? `[${metricsHost}]` : metricsHost;
      this.lines.push(`Metrics at http://${host}:${port}/metrics, without a key`);
    }
  }

  /** From now on the server is not ready. */
  drain(): void {
    this.isDraining = true;
  }

  async close(): Promise<void> {
    clearInterval(this.ticks);
    const open = this.servers.filter(({ listening }) => listening);
    await Promise.all(
      open.map(async (server) => {
        const closed = once(server, 'close');
        server.close();
        server.closeAllConnections();
        await closed;
      }),
    );
  }

  private async listen(
    serve: (request: IncomingMessage, response: ServerResponse) => void,
    port: number,
    host: string,
    variable: string,
  ): Promise<number> {
    const server = createServer({ requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS }, serve);
    server.maxConnections = MAX_CONNECTIONS;
    this.servers.push(server);
    server.listen(port, host);
    try {
      await once(server, 'listening');
    } catch (cause) {
      const reason = (cause as Error).message;
      throw new Error(`The server cannot listen on port ${port} of ${host} (${variable}): ${reason}.`, { cause });
    }
    return (server.address() as AddressInfo).port;
  }

  private answerHealth({ method, url = '' }: IncomingMessage, response: ServerResponse, prefix: string): void {
    const check = url.replace(/\/?(?:\?.*)?$/, '');
    const paths = [`${prefix}/api/health/live`, `${prefix}/api/health/ready`];
    if (!paths.includes(check))
      return send(response, 404, { message: `This port serves only ${paths.join(' and ')}.` });
    if (method !== 'GET' && method !== 'HEAD') return send(response, 405, { message: 'Only GET is supported.' });
    if (check === paths[0]) return this.answerLive(response);
    this.answerReady(response);
  }

  /** Alive while the event loop of one worker is. */
  private answerLive(response: ServerResponse): void {
    const isAlive = [...this.workers].some(({ health }) => health.isAlive);
    if (isAlive) return send(response, 200, { status: 'ok' });
    send(response, 503, { status: 'error', message: 'the event loops of all workers are blocked, or none runs' });
  }

  /** Ready while one worker is. */
  private answerReady(response: ServerResponse): void {
    const found = [...this.workers].flatMap(({ health, role }) => (role === 'retiring' ? [] : [health.lastReadiness]));
    const ready = found.find((one) => one?.isReady);
    if (ready && !this.isDraining) return send(response, 200, ready.body);
    const message = this.isDraining ? 'shutting down' : 'no worker is ready';
    const details = { server: { status: 'down', message } };
    const body = { status: 'error', info: {}, error: details, details };
    send(response, 503, this.isDraining ? body : (found.find((one) => one !== undefined)?.body ?? body));
  }

  private async answerMetrics({ method, url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
    const isFound = /^\/metrics\/?(\?|$)/.test(url);
    if (!isFound) return void response.writeHead(404).end('GET /metrics serves the metrics.\n');
    if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405).end('Only GET is supported.\n');
    const text = await this.metrics();
    response.writeHead(200, { 'content-type': METRICS_TYPE }).end(text);
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}
