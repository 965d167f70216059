import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Principal } from '../../kernel/index.js';
import type { McpCall, McpClient } from '../mcp-call.types.js';

/** The client's description of itself in each request, since 2026. */
interface Envelope {
  readonly [CLIENT_INFO_META_KEY]?: { readonly name: string; readonly version: string };
  readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities;
}

/** A request in the form that the services use, with the state of its notifications. */
export interface ServerCall extends McpCall {
  /** Resolves when all notifications are sent: the result must follow them. */
  flushed(): Promise<unknown>;
}

export function createServerCall(server: Server, context: ServerContext, principal: Principal): ServerCall {
  const { mcpReq } = context;
  const pending: Promise<unknown>[] = [];
  // A failed notification means that the client has disconnected; its request is aborted.
  const track = (sent: Promise<void>): void => void pending.push(sent.catch(() => undefined));
  const state: unknown = mcpReq.requestState();
  return {
    principal,
    client: createClient(server, context, track),
    signal: mcpReq.signal,
    inputs: mcpReq.inputResponses ?? {},
    ...(typeof state === 'string' && { state }),
    progress: createProgress(context, track),
    flushed: () => Promise.all(pending),
  };
}

function createClient(server: Server, { mcpReq }: ServerContext, track: (sent: Promise<void>) => void): McpClient {
  const envelope: Envelope = mcpReq.envelope ?? {};
  const { name, version } = envelope[CLIENT_INFO_META_KEY] ?? server.getClientVersion() ?? {};
  return {
    ...(name !== undefined && { name }),
    ...(version !== undefined && { version }),
    capabilities: envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {},
    log: (level, data, logger) => track(mcpReq.log(level, data, logger)),
  };
}

/** Sends progress only if the request has a token; the protocol requires increasing values. */
function createProgress({ mcpReq }: ServerContext, track: (sent: Promise<void>) => void): McpCall['progress'] {
  const { _meta: meta } = mcpReq;
  const progressToken = meta?.progressToken;
  if (progressToken === undefined) return () => undefined;
  let last = -Infinity;
  return (progress, total, message) => {
    if (progress <= last) return;
    last = progress;
    const params = {
      progressToken,
      progress,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message }),
    };
    track(mcpReq.notify({ method: 'notifications/progress', params }));
  };
}
