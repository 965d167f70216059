import type { ServerResponse } from 'node:http';
import { WebServer, type SeenRequest } from '../web-server.js';

export interface WebMessage {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Answers a message itself and returns true, or returns a result; undefined for an unknown method. */
export type WebScript = (
  message: WebMessage,
  reply: ServerResponse,
  request: SeenRequest,
) => object | true | undefined | Promise<object | true | undefined>;

const SERVER_INFO = { name: 'scripted', version: '1' };

/** An MCP server of 2025 over HTTP whose answers a test defines by method; it has the tool `good`. */
export class ScriptedWeb {
  /** The methods of all received messages. */
  readonly methods: string[] = [];
  /** The bodies of all received messages. */
  readonly bodies: string[] = [];

  private constructor(
    private readonly web: WebServer,
    private readonly script: WebScript,
  ) {
    web.on('/mcp', (request, reply) => void this.serve(request, reply));
  }

  static async start(script: WebScript = () => undefined): Promise<ScriptedWeb> {
    return new ScriptedWeb(await WebServer.start(), script);
  }

  get url(): string {
    return `${this.web.url}/mcp`;
  }

  close(): Promise<void> {
    return this.web.close();
  }

  private async serve(request: SeenRequest, reply: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return void reply.writeHead(405).end();
    const message = JSON.parse(request.body) as WebMessage;
    this.methods.push(message.method);
    this.bodies.push(request.body);
    const scripted = await this.script(message, reply, request);
    if (scripted === true) return;
    if (message.id === undefined) return void reply.writeHead(202).end();
    const result = scripted ?? regular(message);
    const answer = result ? { result } : { error: { code: -32_601, message: `no ${message.method}` } };
    sendJson(reply, 200, { jsonrpc: '2.0', id: message.id, ...answer });
  }
}

export function sendJson(reply: ServerResponse, status: number, body: object): true {
  reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  return true;
}

function regular({ method }: WebMessage): object | undefined {
  switch (method) {
    case 'initialize':
      return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: SERVER_INFO };
    case 'tools/list':
      return { tools: [{ name: 'good', description: 'Works.', inputSchema: { type: 'object' } }] };
    case 'tools/call':
      return { content: [{ type: 'text', text: 'done' }] };
    case 'ping':
      return {};
    default:
      return undefined;
  }
}

/** A web server with one answer to every request at `/mcp`. */
export async function plainWeb({ status, body, headers = {} }: PlainAnswer): Promise<WebServer> {
  const web = await WebServer.start();
  return web.on('/mcp', (_request, reply) => void reply.writeHead(status, headers).end(body));
}

interface PlainAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}
