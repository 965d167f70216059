import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Principal } from '../../common/index.js';
import type { McpCall, McpClient } from '../mcp-call.types.js';

/** What a client says of itself with each request, since 2026. */
interface Envelope {
  readonly [CLIENT_INFO_META_KEY]?: { readonly name: string; readonly version: string };
  readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities;
}

/** A request as the services take it, and what it has told the client so far. */
export interface ServerCall extends McpCall {
  /** Resolves when everything that was told has gone out: the result comes after it. */
  told(): Promise<unknown>;
}

export function createServerCall(server: Server, context: ServerContext, principal: Principal): ServerCall {
  const { mcpReq } = context;
  const telling: Promise<unknown>[] = [];
  // Who cannot be told is gone, and the request is aborted.
  const tell = (sent: Promise<void>): void => void telling.push(sent.catch(() => undefined));
  const state: unknown = mcpReq.requestState();
  return {
    principal,
    client: createClient(server, context, tell),
    signal: mcpReq.signal,
    inputs: mcpReq.inputResponses ?? {},
    ...(typeof state === 'string' && { state }),
    progress: createProgress(context, tell),
    told: () => Promise.all(telling),
  };
}

function createClient(server: Server, { mcpReq }: ServerContext, tell: (sent: Promise<void>) => void): McpClient {
  const envelope: Envelope = mcpReq.envelope ?? {};
  const { name, version } = envelope[CLIENT_INFO_META_KEY] ?? server.getClientVersion() ?? {};
  return {
    ...(name !== undefined && { name }),
    ...(version !== undefined && { version }),
    capabilities: envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {},
    log: (level, data, logger) => tell(mcpReq.log(level, data, logger)),
  };
}

/** Only who gave a token wants to know; progress must grow. */
function createProgress({ mcpReq }: ServerContext, tell: (sent: Promise<void>) => void): McpCall['progress'] {
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
    tell(mcpReq.notify({ method: 'notifications/progress', params }));
  };
}
