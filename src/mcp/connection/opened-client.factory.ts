import type { Client } from '@modelcontextprotocol/client';
import { messageOf } from '../../errors/index.js';
import { untilAborted, VERSION } from '../../kernel/index.js';
import type { McpServer, TransportKind } from '../mcp-server.types.js';
import { isConnectionLost, isTimeout } from './call-failure.mapper.js';
import { loadMcpSdk } from './mcp-sdk.loader.js';
import { withoutSecrets } from './secret.filter.js';
import type { EndpointWait, McpWorld, ServerTransport, TransportOptions } from './server-transport.types.js';
import { keepListening } from './tool-changes.client.js';

/** A program ended before the connection was complete; the first request may have been too new for it. */
export class ProgramEndedError extends Error {
  constructor(fault: string, cause: unknown) {
    super(fault, { cause });
    this.name = 'ProgramEndedError';
  }
}

export type { McpWorld } from './server-transport.types.js';

/** Listeners for messages of a server. */
export interface McpListeners {
  /** If absent, changes of the tools are ignored. */
  readonly toolsChanged?: () => void;
  /** Called when a server of before 2026 asks a person during a call. */
  readonly elicited: (params: ElicitParams, signal: AbortSignal) => Promise<ElicitAnswer>;
}

export interface ElicitParams {
  readonly mode?: string | undefined;
  readonly message: string;
  readonly requestedSchema?: unknown;
  readonly url?: string;
}

export type ElicitAnswer = {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, string | number | boolean | string[]>;
};

/** A connected server. */
export interface OpenedClient {
  readonly client: Client;
  /** Resolves with the reason when the connection has ended. */
  readonly ended: Promise<string>;
  /** Sets the listener for received bytes; replaces the previous one. */
  readonly listenTo: (listener: ((bytes: number) => void) | null) => void;
  readonly pid: number | null;
  readonly transport: TransportKind;
  /** Whether the server answers anything within `withinMs`. */
  readonly isAlive: (withinMs: number) => Promise<boolean>;
  /** @param why the reason, if the server did not cause the end */
  readonly close: (why?: string) => Promise<void>;
}

export interface OpenOptions {
  /** Whether the server is known to support only older protocols. */
  readonly isLegacy: boolean;
  readonly signal: AbortSignal;
}

/** Time-out of the first message, in ms. */
const CONNECT_TIMEOUT_MS = 30_000;
/** Time-out of the `endpoint` event where the transport of 2024 is only possible, in ms. */
const ENDPOINT_TIMEOUT_MS = 5000;
/** Client errors that say nothing about the transport: access denied, too slow, too many requests. */
const NO_HINTS: ReadonlySet<number> = new Set([401, 403, 408, 429]);
/** Time-out of a program's protocol probe, in ms; a silent program is treated as older. */
const PROBE_TIMEOUT_MS = 5000;
/** Maximum length of the stored last error, in UTF-16 units: some errors contain the whole message. */
const MAX_ERROR_LENGTH = 300;

/** Jackdaw's name for servers. */
const CLIENT_INFO = { name: 'jackdaw', version: VERSION };

/**
 * Connects to a server with the newest common protocol.
 * @throws Error if the connection fails; `ProgramEndedError` if the program ended
 */
export async function openClient(
  server: McpServer,
  world: McpWorld,
  listeners: McpListeners,
  options: OpenOptions,
): Promise<OpenedClient> {
  try {
    return await openOver(server, world, listeners, options);
  } catch (error) {
    if (!maySpeakSse(server, error)) throw error;
    const endpoint: EndpointWait = { timeoutMs: ENDPOINT_TIMEOUT_MS, isReceived: false };
    return openOver(withSse(server), world, listeners, { ...options, endpoint }).catch((late: unknown) => {
      throw endpoint.isReceived ? late : error;
    });
  }
}

async function openOver(
  server: McpServer,
  world: McpWorld,
  listeners: McpListeners,
  attempt: OpenOptions & Pick<TransportOptions, 'endpoint'>,
): Promise<OpenedClient> {
  const { isLegacy, signal, endpoint } = attempt;
  let listener: ((bytes: number) => void) | null = null;
  const onReceived = (bytes: number) => listener?.(bytes);
  const serverTransport = await createTransport(server, world, { onReceived, signal, ...(endpoint && { endpoint }) });
  const client = await createClient(server, listeners, isLegacy || kindOf(server) === 'sse');
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  let lastError: string | undefined;
  Object.assign(client, {
    onerror: (error: Error) => void (lastError = withoutSecrets(error, server).slice(0, MAX_ERROR_LENGTH)),
    onclose: () => resolve(withoutSecrets(serverTransport.fault() ?? lastError ?? 'it closed the connection', server)),
  });
  try {
    const options = { timeout: CONNECT_TIMEOUT_MS, maxTotalTimeout: CONNECT_TIMEOUT_MS, signal };
    // The SDK ignores the signal until the protocol is negotiated.
    await untilAborted(client.connect(serverTransport.transport, options), signal);
  } catch (error) {
    const fault = serverTransport.fault();
    if (await isConsentedTo(serverTransport, signal)) return openOver(server, world, listeners, attempt);
    // After an abort, a program may just be starting: a shutdown waits for its end.
    if (kindOf(server) === 'stdio') await serverTransport.close();
    if (fault !== undefined) throw new ProgramEndedError(fault, error);
    throw explained(serverTransport, error);
  }
  const listening = new AbortController();
  void ended.finally(() => listening.abort());
  if (listeners.toolsChanged) void keepListening(client, listeners.toolsChanged, listening.signal);
  let closing: Promise<void> | undefined;
  return {
    client,
    ended,
    listenTo: (next) => void (listener = next),
    pid: serverTransport.pid(),
    transport: kindOf(server),
    isAlive: (withinMs) => isAlive(client, withinMs),
    close: (why = 'it was closed') => {
      resolve(withoutSecrets(serverTransport.fault() ?? why, server));
      return (closing ??= closeAll(serverTransport, client));
    },
  };
}

/** Views of tools pass through to Jackdaw's own MCP clients. */
const EXTENSIONS = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };

async function createClient(
  server: McpServer,
  { toolsChanged, elicited }: McpListeners,
  isLegacy: boolean,
): Promise<Client> {
  const { Client } = await loadMcpSdk();
  const client = new Client(CLIENT_INFO, {
    capabilities: { elicitation: { form: { applyDefaults: true }, url: {} }, extensions: EXTENSIONS },
    versionNegotiation: { mode: isLegacy ? 'legacy' : 'auto', probe: { timeoutMs: probeTimeoutOf(server) } },
    inputRequired: { autoFulfill: false },
    ...(toolsChanged && { listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: toolsChanged } } }),
  });
  // Some servers report changes without the capability. With it, the SDK replaces this handler.
  if (toolsChanged) client.setNotificationHandler('notifications/tools/list_changed', () => toolsChanged());
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) =>
    elicited(params as ElicitParams, mcpReq.signal),
  );
  return client;
}

async function createTransport(
  server: McpServer,
  world: McpWorld,
  options: TransportOptions,
): Promise<ServerTransport> {
  const { transport } = server;
  // Each module is imported with the first server of its kind.
  if (transport.kind === 'stdio') {
    const { createStdioTransport } = await import('./stdio-transport.factory.js');
    return createStdioTransport(transport, world, options.onReceived);
  }
  const { createHttpTransport, createSseTransport } = await import('./http-transport.factory.js');
  const create = transport.isSse ? createSseTransport : createHttpTransport;
  return create(transport, server, world, options);
}

/**
 * Whether an older transport may succeed at the same address: the server refused the POST of a message. The
 * specification names 400, 404 and 405 (2025-11-25, "Backwards Compatibility"), earlier revisions any 4xx.
 */
function maySpeakSse({ transport }: McpServer, error: unknown): boolean {
  if (transport.kind !== 'http' || transport.isSse) return false;
  const { status } = error as { readonly status?: unknown };
  return typeof status === 'number' && status >= 400 && status < 500 && !NO_HINTS.has(status);
}

function withSse(server: McpServer): McpServer {
  return server.transport.kind === 'http' ? { ...server, transport: { ...server.transport, isSse: true } } : server;
}

/** The transport in use. */
export function kindOf({ transport }: Pick<McpServer, 'transport'>): TransportKind {
  return transport.kind === 'http' && transport.isSse ? 'sse' : transport.kind;
}

/** Over HTTP, silence does not mean an older server, and a token may be requested first. */
function probeTimeoutOf({ transport }: McpServer): number {
  return transport.kind === 'stdio' ? PROBE_TIMEOUT_MS : CONNECT_TIMEOUT_MS;
}

/**
 * Closes an unauthorized connection. @returns whether a person has consented meanwhile, so that a new one can succeed
 */
async function isConsentedTo(serverTransport: ServerTransport, signal: AbortSignal): Promise<boolean> {
  const consent = serverTransport.consent?.();
  try {
    if (consent) await untilAborted(consent, signal);
    return Boolean(consent);
  } finally {
    await serverTransport.close();
  }
}

/** A program that neither ends nor answers may have written why. */
function explained({ explain }: ServerTransport, error: unknown): unknown {
  const text = messageOf(error);
  const explanation = explain?.(text) ?? text;
  return explanation === text ? error : new Error(explanation, { cause: error });
}

/** Any answer means that the server is alive. The newest protocol has no `ping`. */
async function isAlive(client: Client, withinMs: number): Promise<boolean> {
  const options = { timeout: withinMs, maxTotalTimeout: withinMs };
  try {
    await (client.getDiscoverResult() ? client.discover(options) : client.ping(options));
    return true;
  } catch (error) {
    return !isTimeout(error) && !isConnectionLost(error);
  }
}

async function closeAll(serverTransport: ServerTransport, client: Client): Promise<void> {
  await serverTransport.close();
  await client.close().catch(() => undefined);
}
