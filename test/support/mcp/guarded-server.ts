import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type SeenRequest, WebServer } from '../web-server.js';

export const CLIENT = { clientId: 'jackdaw-client', clientSecret: 'canary-secret-0123456789' };
const BASIC = `Basic ${Buffer.from(`${CLIENT.clientId}:${CLIENT.clientSecret}`).toString('base64')}`;

interface Message {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: unknown };
}

/**
 * An MCP server of before 2026 that requires a token, and the authorization server that it names. Its one tool, `echo`,
 * returns its arguments. Tokens are issued for `CLIENT`, and for the code `the-code`.
 */
export class GuardedServer {
  /** The accepted tokens. */
  readonly tokens = new Set<string>();

  private constructor(
    readonly mcp: WebServer,
    readonly authority: WebServer,
  ) {}

  static async start(): Promise<GuardedServer> {
    return new GuardedServer(await WebServer.start(), await WebServer.start()).reset();
  }

  get url(): string {
    return `${this.mcp.url}/mcp`;
  }

  /** Clears tokens and requests, and restores the regular answers. */
  reset(): this {
    this.tokens.clear();
    this.mcp.reset();
    this.authority.reset();
    this.mcp.on('/mcp', (request, reply) => this.answer(request, reply));
    this.name(this.authority);
    this.present(this.authority);
    this.authority.on('/token', (request, reply) => this.grant(request, reply));
    return this;
  }

  /** Announces the authorization server. */
  name(authority: WebServer): void {
    this.mcp.json('/.well-known/oauth-protected-resource/mcp', {
      resource: this.url,
      authorization_servers: [authority.url],
      scopes_supported: ['all'],
    });
  }

  /** Serves the metadata of an authorization server. */
  present(authority: WebServer): void {
    authority.json('/.well-known/oauth-authorization-server', {
      issuer: authority.url,
      authorization_endpoint: `${authority.url}/authorize`,
      token_endpoint: `${authority.url}/token`,
      response_types_supported: ['code'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'none'],
    });
  }

  /** Number of tool calls with an accepted token. */
  get calls(): number {
    return this.mcp.at('/mcp').filter((request) => request.body.includes('tools/call') && this.isAdmitted(request))
      .length;
  }

  async close(): Promise<void> {
    await Promise.all([this.mcp.close(), this.authority.close()]);
  }

  private isAdmitted({ headers }: SeenRequest): boolean {
    return this.tokens.has((headers.authorization ?? '').replace('Bearer ', ''));
  }

  private answer(request: SeenRequest, reply: ServerResponse): void {
    if (!this.isAdmitted(request)) {
      const where = `${this.mcp.url}/.well-known/oauth-protected-resource/mcp`;
      const challenge = { 'www-authenticate': `Bearer resource_metadata="${where}"` };
      reply.writeHead(401, challenge).end(`Not taken: ${request.headers.authorization}`);
      return;
    }
    if (request.method !== 'POST') return void reply.writeHead(405).end();
    const message = JSON.parse(request.body) as Message;
    if (message.id === undefined) return void reply.writeHead(202).end();
    const body = JSON.stringify({ jsonrpc: '2.0', id: message.id, ...outcomeOf(message) });
    reply.writeHead(200, { 'content-type': 'application/json' }).end(body);
  }

  private grant({ headers, body }: SeenRequest, reply: ServerResponse): void {
    const isKnown = headers.authorization === BASIC || new URLSearchParams(body).get('code') === 'the-code';
    const token = `canary-token-${randomUUID()}`;
    if (isKnown) this.tokens.add(token);
    const said = isKnown
      ? { access_token: token, token_type: 'Bearer', expires_in: 60 }
      : { error: 'invalid_client', error_description: `No client has the secret ${secretIn(headers.authorization)}` };
    reply.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(said));
  }
}

/** Some servers repeat the credentials in their error. */
function secretIn(authorization = ''): string {
  return `${authorization}, ${Buffer.from(authorization.replace('Basic ', ''), 'base64').toString()}`;
}

function outcomeOf({ method, params }: Message): object {
  switch (method) {
    case 'initialize':
      return {
        result: {
          protocolVersion: params?.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'guarded', version: '1' },
        },
      };
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: { tools: [{ name: 'echo', description: 'Echoes.', inputSchema: { type: 'object' } }] } };
    case 'tools/call':
      return { result: { content: [{ type: 'text', text: JSON.stringify(params?.arguments) }] } };
    default:
      return { error: { code: -32_601, message: `no ${method}` } };
  }
}
