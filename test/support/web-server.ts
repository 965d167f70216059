import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ServerCertificate } from './certificate.factory.js';

/** A request as received. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The body as received. */
  readonly bytes: Buffer;
  /** Over TLS, the requested server name (SNI). */
  readonly servername?: string | undefined;
}

export type WebAnswer = (request: SeenRequest, reply: ServerResponse, count: number) => void;

/** A real HTTP server for outgoing calls: each path has an answer, and every request is recorded. */
export class WebServer {
  readonly requests: SeenRequest[] = [];
  /** Total number of connections. */
  connections = 0;
  /** Number of open connections. */
  open = 0;
  private readonly answers = new Map<string, WebAnswer>();
  private any: WebAnswer | undefined;
  private readonly closings: Promise<void>[] = [];
  private readonly waiters = new Set<() => void>();

  private constructor(private readonly server: Server | TlsServer) {
    server.on('connection', (socket) => {
      this.connections++;
      this.open++;
      socket.on('close', () => this.open--);
      this.closings.push(new Promise((resolve) => socket.on('close', () => resolve())));
    });
    server.on('request', (incoming, outgoing) => void this.serve(incoming, outgoing));
  }

  /** @param certificate for a server with TLS */
  static async start(host = '127.0.0.1', certificate?: ServerCertificate): Promise<WebServer> {
    const options = { keepAliveTimeout: 60_000 };
    const server = certificate ? createTlsServer({ ...options, ...certificate }) : createServer(options);
    server.listen(0, host);
    await once(server, 'listening');
    return new WebServer(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.server instanceof TlsServer ? 'https' : 'http'}://127.0.0.1:${this.port}`;
  }

  /** Sets the answer of a path, for any query. `count` is the number of its requests so far, from 1. */
  on(path: string, answer: WebAnswer): this {
    this.answers.set(path, answer);
    return this;
  }

  /** Sets the answer of all other paths. */
  onAny(answer: WebAnswer): this {
    this.any = answer;
    return this;
  }

  /** Sets a JSON answer of a path. */
  json(path: string, body: unknown, status = 200): this {
    return this.on(path, (_request, reply) => {
      reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  }

  /** The requests to a path. */
  at(path: string): SeenRequest[] {
    return this.requests.filter((request) => request.path.split('?')[0] === path);
  }

  /** Waits until this number of requests has arrived. */
  async waitForRequests(count: number): Promise<void> {
    while (this.requests.length < count) await new Promise<void>((resolve) => this.waiters.add(resolve));
  }

  /** Waits until every former connection is closed. */
  async waitForClosed(): Promise<void> {
    await Promise.all(this.closings);
  }

  /** Clears requests and answers. */
  reset(): void {
    this.requests.length = 0;
    this.answers.clear();
    this.any = undefined;
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await this.waitForClosed();
  }

  private async serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const bytes = Buffer.concat(await incoming.toArray());
    const body = bytes.toString();
    const { method = '', url: path = '', headers } = incoming;
    const { servername } = incoming.socket as { servername?: string };
    const request = { method, path, headers, body, bytes, servername };
    this.requests.push(request);
    for (const wake of this.waiters) wake();
    this.waiters.clear();
    const plain = path.split('?')[0]!;
    const answer = this.answers.get(plain) ?? this.any;
    if (answer) answer(request, outgoing, answer === this.any ? this.requests.length : this.at(plain).length);
    else outgoing.writeHead(404).end();
  }
}
