import { toNodeHandler, type NodeIncomingMessageLike } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  isLegacyRequest,
  type AuthInfo,
  type McpHandlerRequestOptions,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../../kernel/index.js';
import type { McpChange } from '../mcp-changes.service.js';
import type { McpOffer } from '../mcp-offer.service.js';
import { acceptedForm, acceptingBoth, inForm, isListening } from '../accepted-form.mapper.js';
import { createConnection, type Connection } from './connection.factory.js';
import { publishChange } from './stdio.handler.js';
import { errorResponse, type SessionLimits, SessionRegistry } from './session.registry.js';

const ONLY_EVENTS = 'Not Acceptable: subscriptions/listen answers with an event stream. Accept text/event-stream.';
const INVALID_PARAMS = -32_602;

/** Serves MCP over Streamable HTTP: stateless since 2026-07-28, with sessions before. */
export class McpHttpHandler {
  private readonly sessions: SessionRegistry;
  private readonly stateless: ReturnType<typeof createMcpHandler>;
  private readonly node: ReturnType<typeof toNodeHandler>;

  constructor(
    private readonly offer: McpOffer,
    limits: SessionLimits,
  ) {
    const connect = (): Connection => createConnection(offer, principalOf);
    this.sessions = new SessionRegistry(connect, limits);
    this.stateless = createMcpHandler(() => connect().server, { legacy: 'reject' });
    const onerror = (error: Error): void => offer.report(error);
    this.node = toNodeHandler({ fetch: (request, options) => this.fetch(request, options) }, { onerror });
  }

  /** Resolves when the response is written (a stream to its end) or the client has disconnected. */
  async handle(principal: Principal, request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    const auth: AuthInfo = { token: '', clientId: principal.id, scopes: [], extra: { principal } };
    const session = request.headers['mcp-session-id'];
    const release = typeof session === 'string' ? this.sessions.use(session, principal) : undefined;
    try {
      const authenticated = Object.assign(request as NodeIncomingMessageLike, { auth });
      await this.node(authenticated, response, body);
    } finally {
      release?.();
    }
  }

  publish(change: McpChange): void {
    for (const connection of this.sessions.connections) publishChange(connection, change);
    switch (change.kind) {
      case 'tools':
        return this.stateless.notify.toolsChanged();
      case 'prompts':
        return this.stateless.notify.promptsChanged();
      case 'resources':
        return this.stateless.notify.resourcesChanged();
      case 'resource':
        return this.stateless.notify.resourceUpdated(change.uri);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.stateless.close(), this.sessions.close()]);
  }

  /** Accepts what HTTP does, in addition to the exact header that the SDK requires. */
  private async fetch(request: Request, options: McpHandlerRequestOptions = {}): Promise<Response> {
    const form = acceptedForm(request.headers.get('accept'));
    if (form === 'none' || (form === 'json' && request.method === 'GET')) return this.respond(request, options);
    if (form === 'json' && isListening(options.parsedBody)) return errorResponse(406, INVALID_PARAMS, ONLY_EVENTS);
    const response = await inForm(await this.respond(acceptingBoth(request), options), form);
    return request.method === 'GET' && response.ok ? withStart(response) : response;
  }

  private async respond(request: Request, options: McpHandlerRequestOptions): Promise<Response> {
    const principal = options.authInfo?.extra?.['principal'] as Principal;
    const { parsedBody } = options;
    if (await isLegacyRequest(request, parsedBody)) return this.sessions.handle(request, principal, options);
    const foreign = await this.foreignSubscription(principal, parsedBody);
    if (foreign) return errorResponse(400, INVALID_PARAMS, foreign);
    return this.stateless.fetch(request, options);
  }

  /** A change stream reports every change at its URIs: the principal must have access to all of them. */
  private async foreignSubscription(principal: Principal, body: unknown): Promise<string | undefined> {
    const uris = subscribedUris(body);
    if (uris.length === 0) return undefined;
    try {
      for (const uri of uris) await this.offer.resources.assertMayFollow(principal, uri);
      this.offer.changes.followRuns();
      return undefined;
    } catch (error) {
      this.offer.report(error);
      return error instanceof Error ? error.message : String(error);
    }
  }
}

/** Starts a stream with a comment: Node sends the headers with the first bytes, and a first event may be late. */
function withStart({ body, status, headers }: Response): Response {
  const start = new TransformStream<Uint8Array, Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(': open\n\n')),
  });
  return new Response(body?.pipeThrough(start) ?? null, { status, headers });
}

function principalOf({ http }: ServerContext): Principal {
  return http?.authInfo?.extra?.['principal'] as Principal;
}

function subscribedUris(body: unknown): string[] {
  const { method, params } = (body ?? {}) as {
    method?: unknown;
    params?: { notifications?: { resourceSubscriptions?: unknown } };
  };
  const uris = method === 'subscriptions/listen' ? params?.notifications?.resourceSubscriptions : [];
  return Array.isArray(uris) ? uris.map(String) : [];
}
