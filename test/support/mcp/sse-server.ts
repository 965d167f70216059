import { Server as McpSdkServer } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SseOptions {
  /** The accepted tokens, if a token is required. */
  readonly tokens?: ReadonlySet<string>;
  /** The authorization server. */
  readonly authority?: string;
  /** Replaces the address of the `endpoint` event. */
  readonly endpoint?: string;
}

/** An MCP server of 2024 over HTTP with Server-Sent Events, by the transport of the SDK's first version. */
export class SseServer {
  /** Method, path and authorization of each request. */
  readonly requests: string[] = [];
  /** Numbers of calls that wait, and of those that the client cancelled. */
  readonly calls = { waiting: 0, cancelled: 0 };
  private readonly sessions = new Map<string, { transport: SSEServerTransport; reply: ServerResponse }>();
  private readonly waiters = new Set<() => void>();

  private constructor(
    private readonly http: Server,
    private readonly options: SseOptions,
  ) {
    http.on('request', (request, reply) => void this.serve(request, reply));
  }

  static async start(options: SseOptions = {}): Promise<SseServer> {
    const http = createServer().listen(0, '127.0.0.1');
    await once(http, 'listening');
    return new SseServer(http, options);
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.origin}/sse`;
  }

  /** Number of open streams. */
  get streams(): number {
    return this.sessions.size;
  }

  /** Ends all streams, as a restart does. */
  endStreams(): void {
    for (const { reply } of this.sessions.values()) reply.end();
  }

  async untilStreams(count: number): Promise<void> {
    await this.until(() => this.streams === count);
  }

  async untilCalls(kind: 'waiting' | 'cancelled', count: number): Promise<void> {
    await this.until(() => this.calls[kind] === count);
  }

  private async until(isReached: () => boolean): Promise<void> {
    while (!isReached()) await new Promise<void>((resolve) => this.waiters.add(resolve));
  }

  async close(): Promise<void> {
    this.http.close();
    this.http.closeAllConnections();
    await this.untilStreams(0);
  }

  private async serve(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.origin);
    const { authorization = 'none' } = request.headers;
    this.requests.push(`${request.method} ${pathname} ${authorization}`);
    const { tokens, authority } = this.options;
    if (pathname.startsWith('/.well-known/oauth-protected-resource') && authority !== undefined) {
      const metadata = { resource: this.url, authorization_servers: [authority] };
      return void reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata));
    }
    if (tokens && !tokens.has(authorization.replace('Bearer ', ''))) {
      return void reply.writeHead(401, { 'content-type': 'text/plain' }).end('a token is required');
    }
    await this.route(`${request.method} ${pathname}`, searchParams.get('sessionId'), request, reply);
  }

  private async route(
    place: string,
    session: string | null,
    request: IncomingMessage,
    reply: ServerResponse,
  ): Promise<void> {
    const open = this.sessions.get(session ?? '');
    if (place === 'GET /sse') await this.open(reply);
    else if (place === 'POST /message' && open) await open.transport.handlePostMessage(request, reply);
    else reply.writeHead(404, { 'content-type': 'text/html' }).end(`<html>Cannot ${place}</html>`);
  }

  private async open(reply: ServerResponse): Promise<void> {
    const { endpoint } = this.options;
    if (endpoint !== undefined) {
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      return void reply.write(`event: endpoint\ndata: ${endpoint}\n\n`);
    }
    const transport = new SSEServerTransport('/message', reply);
    this.change(() => this.sessions.set(transport.sessionId, { transport, reply }));
    reply.on('close', () => this.change(() => this.sessions.delete(transport.sessionId)));
    await this.createSdkServer().connect(transport);
  }

  private change(work: () => unknown): void {
    work();
    for (const waiter of this.waiters) waiter();
    this.waiters.clear();
  }

  /** Calls of `echo` return their arguments; those of `wait` end when the client cancels them. */
  private createSdkServer(): McpSdkServer {
    const server = new McpSdkServer({ name: 'of-2024', version: '1' }, { capabilities: { tools: {} } });
    const tools = ['echo', 'wait'].map((name) => ({
      name,
      description: name,
      inputSchema: { type: 'object' as const },
    }));
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
      if (params.name === 'wait') {
        this.change(() => this.calls.waiting++);
        await once(signal, 'abort');
        this.change(() => this.calls.cancelled++);
      }
      return { content: [{ type: 'text', text: JSON.stringify(params.arguments) }] };
    });
    return server;
  }
}
