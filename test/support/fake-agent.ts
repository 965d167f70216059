import type { ServerResponse } from 'node:http';
import { type SeenRequest, WebServer } from './web-server.js';

type Params = Readonly<Record<string, unknown>>;
/** The result of a method, or a function that answers itself. */
type Script = object | ((params: Params, reply: ServerResponse) => object | void);

const CARD = { name: 'fake', description: 'A fake agent.', version: '1.0.0', skills: [] };

/** A remote agent of A2A 1.0 over JSON-RPC, whose replies a test scripts. */
export class FakeAgent {
  /** Members that replace those of its card. */
  card: Params = {};
  private readonly scripts = new Map<string, Script[]>();

  private constructor(readonly server: WebServer) {}

  static async start(): Promise<FakeAgent> {
    const agent = new FakeAgent(await WebServer.start());
    agent.server.on('/.well-known/agent-card.json', (_request, reply) => json(reply, agent.wholeCard()));
    agent.server.on('/rpc', (request, reply) => agent.answer(request, reply));
    return agent;
  }

  get url(): string {
    return this.server.url;
  }

  /** The replies of a method, in order; the last one repeats. */
  on(method: string, ...scripts: Script[]): this {
    this.scripts.set(method, scripts);
    return this;
  }

  /** The requests for a method. */
  calls(method: string): Params[] {
    const bodies = this.server.at('/rpc').map(({ body }) => JSON.parse(body) as { method: string; params: Params });
    return bodies.filter((body) => body.method === method).map(({ params }) => params);
  }

  /** Declares that a repeated message gets the task of the first one. */
  promiseIdempotency(): this {
    const extensions = [{ uri: 'urn:jackdaw:a2a:idempotent-messages:v1' }];
    this.card = { ...this.card, capabilities: { extensions } };
    return this;
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private wholeCard(): object {
    const supportedInterfaces = [{ url: `${this.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
    return { ...CARD, supportedInterfaces, ...this.card };
  }

  private answer({ body }: SeenRequest, reply: ServerResponse): void {
    const { id, method, params } = JSON.parse(body) as { id: string; method: string; params: Params };
    const scripts = this.scripts.get(method) ?? [];
    const script = scripts.length > 1 ? scripts.shift()! : scripts[0];
    const result = typeof script === 'function' ? script(params, reply) : script;
    if (result && 'error' in result) json(reply, { jsonrpc: '2.0', id, ...result });
    else if (result) json(reply, { jsonrpc: '2.0', id, result });
  }
}

/** A task in a state, with a text as its answer. */
export function task(state: string, text?: string): object {
  const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: `It is ${state}.` }] };
  return {
    id: 't1',
    contextId: 'c1',
    status: { state: `TASK_STATE_${state}`, message },
    ...(text !== undefined && { artifacts: [{ artifactId: 'a', parts: [{ text }] }] }),
  };
}

/** Breaks the connection without a reply. */
export function reset(_params: Params, reply: ServerResponse): void {
  reply.socket?.resetAndDestroy();
}

function json(reply: ServerResponse, body: object): void {
  reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
