import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

interface Message {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string; readonly name?: string };
}

/**
 * An MCP server of 2025 over HTTP that counts its sessions and sockets; its tool `count` counts the calls of a session.
 */
export class CountingServer {
  /** Total number of started sessions. */
  started = 0;
  /** Whether it refuses new sessions. */
  isRefusing = false;
  /** The description of its tool. */
  description = 'Counts.';
  private readonly calls = new Map<string, number>();
  private readonly sockets = new Set<Socket>();
  private readonly watchers = new Set<() => void>();

  private constructor(private readonly server: Server) {
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.change(() => this.sockets.delete(socket)));
    });
    server.on('request', (request, reply) => void this.serve(request, reply));
  }

  static async start(): Promise<CountingServer> {
    const server = createServer({ keepAliveTimeout: 600_000 }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new CountingServer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/mcp`;
  }

  get open(): { sessions: number; sockets: number } {
    return { sessions: this.calls.size, sockets: this.sockets.size };
  }

  /** Loses all sessions, as after a restart. */
  forget(): void {
    this.calls.clear();
  }

  async until(isSo: (open: CountingServer['open']) => boolean): Promise<void> {
    while (!isSo(this.open)) await new Promise<void>((wake) => this.watchers.add(wake));
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await this.until(({ sockets }) => sockets === 0);
  }

  private async serve(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const session = String(request.headers['mcp-session-id'] ?? '');
    if (request.method === 'DELETE') this.change(() => this.calls.delete(session));
    if (request.method !== 'POST') return void reply.writeHead(request.method === 'DELETE' ? 200 : 405).end();
    const message = JSON.parse(text) as Message;
    if (message.method === 'initialize') return this.begin(message, reply);
    if (session !== '' && !this.calls.has(session)) return void reply.writeHead(404).end();
    if (message.id === undefined) return void reply.writeHead(202).end();
    this.answer(message, this.resultOf(message, session), reply);
  }

  private begin(message: Message, reply: ServerResponse): void {
    if (this.isRefusing) return void reply.writeHead(503).end('not now');
    const session = randomUUID();
    this.started++;
    this.change(() => this.calls.set(session, 0));
    reply.setHeader('mcp-session-id', session);
    const { protocolVersion = '2025-11-25' } = message.params ?? {};
    const serverInfo = { name: 'counting', version: '1' };
    this.answer(message, { protocolVersion, capabilities: { tools: {} }, serverInfo }, reply);
  }

  private resultOf({ method }: Message, session: string): object | undefined {
    const { description } = this;
    if (method === 'tools/list') return { tools: [{ name: 'count', description, inputSchema: { type: 'object' } }] };
    if (method !== 'tools/call') return undefined;
    const count = (this.calls.get(session) ?? 0) + 1;
    this.calls.set(session, count);
    return { content: [{ type: 'text', text: String(count) }] };
  }

  private answer({ id }: Message, result: object | undefined, reply: ServerResponse): void {
    const said = result ? { result } : { error: { code: -32_601, message: 'no such method' } };
    reply.writeHead(200, { 'content-type': 'application/json' });
    reply.end(JSON.stringify({ jsonrpc: '2.0', id, ...said }));
  }

  private change(happen: () => void): void {
    happen();
    for (const wake of this.watchers) wake();
    this.watchers.clear();
  }
}
