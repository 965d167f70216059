import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { type ErrorCode, toAppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import { wellFormed } from '../../kernel/text/index.js';
import type { McpCall, McpClient } from '../mcp-call.types.js';
import type { McpOffer } from '../mcp-offer.service.js';

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

/** Errors caused by the request itself. */
const INVALID: ReadonlySet<ErrorCode> = new Set([
  'VALIDATION_FAILED',
  'NOT_FOUND',
  'TOOL_NOT_FOUND',
  'TOOL_DISABLED',
  'TOOL_HELD',
  'AGENT_NOT_FOUND',
  'RUN_NOT_FOUND',
  'SESSION_NOT_FOUND',
]);
/** A JSON-RPC code from the server range: the request was understood but not executed. */
const REFUSED = -32_000;

/** Converts any error to a protocol error; an unknown error reveals no details. */
function toProtocolError(thrown: unknown): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown;
  const { code, message, details } = toAppError(thrown);
  // The error of a missing resource has its URI only.
  const data = code === 'NOT_FOUND' && details?.['uri'] !== undefined ? details : { code, ...details };
  return new ProtocolError(numberOf(code), message, data);
}

function numberOf(code: ErrorCode): number {
  if (INVALID.has(code)) return ProtocolErrorCode.InvalidParams;
  return code === 'INTERNAL' ? ProtocolErrorCode.InternalError : REFUSED;
}

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
};
/** Lists depend on the principal and can change at any time. */
const PRIVATE = { ttlMs: 0, cacheScope: 'private' } as const;
const CACHE_HINTS = {
  'tools/list': PRIVATE,
  'prompts/list': PRIVATE,
  'resources/list': PRIVATE,
  'resources/templates/list': PRIVATE,
  'resources/read': PRIVATE,
};
/** Maximum number of values of a completion, by the protocol. */
const MAX_COMPLETIONS = 100;

/** The server side of one exchange, one session, or standard input and output. */
export interface Connection {
  readonly server: Server;
  /** URIs that the client has subscribed to by `resources/subscribe`. */
  readonly subscriptions: Pick<ReadonlySet<string>, 'has'>;
}

/**
 * Results are well-formed: a strict client rejects a message with half a character.
 *
 * @param principalOf the principal of a request; requests of one connection can have different rights
 */
export function createConnection(offer: McpOffer, principalOf: (context: ServerContext) => Principal): Connection {
  const { info, instructions } = offer;
  const server = new Server(info, { capabilities: CAPABILITIES, instructions, cacheHints: CACHE_HINTS });
  const guarded = async <R>(context: ServerContext, work: (call: McpCall) => R | Promise<R>): Promise<R> => {
    const call = createServerCall(server, context, principalOf(context));
    try {
      return wellFormed(await work(call));
    } catch (error) {
      offer.report(error);
      throw toProtocolError(error);
    } finally {
      await call.flushed();
    }
  };
  const subscriptions = new Set<string>();
  serveTools(server, offer, guarded);
  servePrompts(server, offer, guarded);
  serveResources(server, offer, guarded, subscriptions);
  return { server, subscriptions };
}

type Guarded = <R>(context: ServerContext, work: (call: McpCall) => R | Promise<R>) => Promise<R>;

function serveTools(server: Server, { tools }: McpOffer, guarded: Guarded): void {
  server.setRequestHandler('tools/list', (_request, context) =>
    guarded(context, async ({ principal }) => ({ tools: await tools.list(principal) })),
  );
  server.setRequestHandler('tools/call', ({ params }, context) =>
    guarded(context, async (call) => {
      const answer = await tools.call(call, params.name, params.arguments ?? {});
      if (!('content' in answer)) return answer;
      return server.projectCallToolResult(answer as CallToolResult, tools.outputSchema(params.name));
    }),
  );
}

function servePrompts(server: Server, { prompts }: McpOffer, guarded: Guarded): void {
  server.setRequestHandler('prompts/list', (_request, context) =>
    guarded(context, ({ principal }) => ({ prompts: prompts.list(principal) })),
  );
  server.setRequestHandler('prompts/get', ({ params }, context) =>
    guarded(context, (call) => prompts.get(call, params.name, params.arguments ?? {})),
  );
  server.setRequestHandler('completion/complete', ({ params: { ref, argument } }, context) =>
    guarded(context, async ({ principal }) => {
      const isPrompt = ref.type === 'ref/prompt';
      const found = isPrompt ? await prompts.complete(principal, ref.name, argument.name, argument.value) : [];
      const values = found.slice(0, MAX_COMPLETIONS);
      return { completion: { values, total: found.length, hasMore: found.length > values.length } };
    }),
  );
}

function serveResources(
  server: Server,
  { resources, changes }: McpOffer,
  guarded: Guarded,
  subscriptions: Set<string>,
): void {
  server.setRequestHandler('resources/list', ({ params }, context) =>
    guarded(context, ({ principal }) => resources.list(principal, params?.cursor)),
  );
  server.setRequestHandler('resources/templates/list', (_request, context) =>
    guarded(context, ({ principal }) => ({ resourceTemplates: resources.templates(principal) })),
  );
  server.setRequestHandler('resources/read', ({ params }, context) =>
    guarded(context, ({ principal }) => resources.read(principal, params.uri)),
  );
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }, context) =>
    guarded(context, async ({ principal }) => {
      await resources.assertMayFollow(principal, uri);
      changes.followRuns();
      subscriptions.add(uri);
      return {};
    }),
  );
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }, context) =>
    guarded(context, () => {
      subscriptions.delete(uri);
      return {};
    }),
  );
}
