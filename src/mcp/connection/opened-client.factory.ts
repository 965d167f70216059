import type { Client } from '@modelcontextprotocol/client';
import { untilAborted, VERSION } from '../../common/index.js';
import type { McpServer } from '../mcp-server.types.js';
import { isConnectionLost, isTimeout } from './call-failure.mapper.js';
import { loadMcpSdk } from './mcp-sdk.loader.js';
import { ProgramEndedError } from './program-ended.error.js';
import { withoutSecrets } from './secret.filter.js';
import { keepListening } from './tool-changes.client.js';
import type { McpWorld, ServerTransport, TransportOptions } from './way.types.js';

export type { McpWorld } from './way.types.js';

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
/** Time-out of a program's protocol probe, in ms; a silent program is treated as older. */
const PROBE_TIMEOUT_MS = 5000;
/** Maximum number of pages of a list. */
const MAX_PAGES = 64;
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
  { isLegacy, signal }: OpenOptions,
): Promise<OpenedClient> {
  let listener: ((bytes: number) => void) | null = null;
  const serverTransport = await createTransport(server, world, { onReceived: (bytes) => listener?.(bytes), signal });
  const client = await createClient(server, listeners, isLegacy);
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  let lastError: string | undefined;
  Object.assign(client, {
    onerror: (error: Error) => void (lastError = withoutSecrets(error, server).slice(0, MAX_ERROR_LENGTH)),
    onclose: () => resolve(serverTransport.fault() ?? lastError ?? 'it closed the connection'),
  });
  try {
    const options = { timeout: CONNECT_TIMEOUT_MS, maxTotalTimeout: CONNECT_TIMEOUT_MS, signal };
    // The SDK ignores the signal until the protocol is negotiated.
    await untilAborted(client.connect(serverTransport.transport, options), signal);
  } catch (error) {
    const fault = serverTransport.fault();
    if (await isConsentedTo(serverTransport, signal)) return openClient(server, world, listeners, { isLegacy, signal });
    throw fault === undefined ? error : new ProgramEndedError(fault, error);
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
    isAlive: (withinMs) => isAlive(client, withinMs),
    close: (why = 'it was closed') => {
      resolve(serverTransport.fault() ?? why);
      return (closing ??= closeAll(serverTransport, client));
    },
  };
}

async function createClient(
  server: McpServer,
  { toolsChanged, elicited }: McpListeners,
  isLegacy: boolean,
): Promise<Client> {
  const { Client } = await loadMcpSdk();
  const client = new Client(CLIENT_INFO, {
    capabilities: { elicitation: { form: { applyDefaults: true }, url: {} } },
    versionNegotiation: { mode: isLegacy ? 'legacy' : 'auto', probe: { timeoutMs: probeTimeoutOf(server) } },
    inputRequired: { autoFulfill: false },
    ...(toolsChanged && { listChanged: { tools: { autoRefresh: false, debounceMs: 200, onChanged: toolsChanged } } }),
    listMaxPages: MAX_PAGES,
  });
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
    const { createProgramTransport } = await import('./program-way.factory.js');
    return createProgramTransport(transport, world, options.onReceived);
  }
  const { createHttpTransport } = await import('./http-way.factory.js');
  return createHttpTransport(transport, server, world.config, options);
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
