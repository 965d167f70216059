import type { ServerResponse } from 'node:http';
import { WebServer } from '../web-server.js';

interface Message {
  readonly id?: number | string;
  readonly method: string;
}

const COMPLETE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

/** An MCP server of 2026 over HTTP whose tools change; a test controls its notification streams. */
export class ListenedServer {
  tools: readonly object[] = [];
  /** Called when the tools are listed, with a function that sends the answer; by default it is sent at once. */
  listing: (send: () => void) => void = (send) => send();
  /** The open notification streams, in order. */
  readonly streams: ServerResponse[] = [];
  private readonly ids: unknown[] = [];

  private constructor(private readonly web: WebServer) {
    web.on('/mcp', ({ method, body }, reply) => {
      if (method !== 'POST') return void reply.writeHead(405).end();
      this.answer(JSON.parse(body) as Message, reply);
    });
  }

  static async start(): Promise<ListenedServer> {
    return new ListenedServer(await WebServer.start());
  }

  get url(): string {
    return `${this.web.url}/mcp`;
  }

  /** Notifies the client of the last stream that the tools have changed. */
  notifyChanged(): void {
    this.say('notifications/tools/list_changed', {});
  }

  close(): Promise<void> {
    return this.web.close();
  }

  private answer({ id, method }: Message, reply: ServerResponse): void {
    if (id === undefined) return void reply.writeHead(202).end();
    if (method === 'subscriptions/listen') return this.listen(id, reply);
    const result = this.resultOf(method);
    const said = result
      ? { result: { ...COMPLETE, ...result } }
      : { error: { code: -32_601, message: `no ${method}` } };
    const text = JSON.stringify({ jsonrpc: '2.0', id, ...said });
    const send = () => void reply.writeHead(200, { 'content-type': 'application/json' }).end(text);
    if (method === 'tools/list') this.listing(send);
    else send();
  }

  private resultOf(method: string): object | undefined {
    const capabilities = { tools: { listChanged: true } };
    if (method === 'server/discover') return { supportedVersions: ['2026-07-28'], capabilities };
    if (method === 'tools/call') return { content: [{ type: 'text', text: 'done' }] };
    return method === 'tools/list' ? { tools: this.tools } : undefined;
  }

  private listen(id: number | string, reply: ServerResponse): void {
    reply.writeHead(200, { 'content-type': 'text/event-stream' });
    this.streams.push(reply);
    this.ids.push(id);
    this.say('notifications/subscriptions/acknowledged', { notifications: { toolsListChanged: true } });
  }

  private say(method: string, params: object): void {
    const meta = { 'io.modelcontextprotocol/subscriptionId': this.ids.at(-1) };
    const message = { jsonrpc: '2.0', method, params: { ...params, _meta: meta } };
    this.streams.at(-1)!.write(`data: ${JSON.stringify(message)}\n\n`);
  }
}
