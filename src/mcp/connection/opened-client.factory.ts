import type { Client } from '@modelcontextprotocol/client';
import { untilAborted, VERSION } from '../../common/index.js';
import type { McpServer } from '../mcp-server.types.js';
import { isConnectionLost, isTimeout } from './call-failure.mapper.js';
import { loadMcpSdk } from './mcp-sdk.loader.js';
import { ProgramEndedError } from './program-ended.error.js';
import { withoutSecrets } from './secret.filter.js';
import { keepHearing } from './tool-changes.client.js';
import type { McpWorld, Way, WayOptions } from './way.types.js';

export type { McpWorld } from './way.types.js';

/** What a connection hears of its server. */
export interface McpListeners {
  /** Without it nobody wants to know. */
  readonly toolsChanged?: () => void;
  /** A server of before 2026 asks a person while it carries out a call. */
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

/** A server that has been connected to. */
export interface OpenedClient {
  readonly client: Client;
  /** Resolves to why the connection ended, when it has. */
  readonly ended: Promise<string>;
  /** Has a listener hear of all bytes that come, in place of the one before. */
  readonly listenTo: (hear: ((bytes: number) => void) | null) => void;
  readonly pid: number | null;
  /** Whether it answers anything at all within so many ms. */
  readonly isThere: (withinMs: number) => Promise<boolean>;
  /** @param why it is closed, when that is not its own doing */
  readonly close: (why?: string) => Promise<void>;
}

export interface OpenOptions {
  /** Whether it is known to speak none of the newer protocols. */
  readonly isLegacy: boolean;
  readonly signal: AbortSignal;
}

/** What a server may take to answer the first message, in ms. */
const CONNECT_TIMEOUT_MS = 30_000;
/** What a program may take to say whether it speaks the newest protocol; one that is silent is taken for an older one. */
const PROBE_TIMEOUT_MS = 5000;
/** The most pages of one list. */
const MAX_PAGES = 64;
/** How much is kept of what went wrong last: some errors hold the whole message. */
const MAX_SAID = 300;

/** Our own name to servers. */
const CLIENT_INFO = { name: 'jackdaw', version: VERSION };

/**
 * Connects to a server with the newest protocol that both know.
 * @throws Error when it cannot be connected to; `ProgramEndedError` for a program that ended meanwhile
 */
export async function openClient(
  server: McpServer,
  world: McpWorld,
  listeners: McpListeners,
  { isLegacy, signal }: OpenOptions,
): Promise<OpenedClient> {
  let hear: ((bytes: number) => void) | null = null;
  const way = await createWay(server, world, { onReceived: (bytes) => hear?.(bytes), signal });
  const client = await createClient(server, listeners, isLegacy);
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  let said: string | undefined;
  Object.assign(client, {
    onerror: (error: Error) => void (said = withoutSecrets(error, server).slice(0, MAX_SAID)),
    onclose: () => resolve(way.fault() ?? said ?? 'it closed the connection'),
  });
  try {
    const options = { timeout: CONNECT_TIMEOUT_MS, maxTotalTimeout: CONNECT_TIMEOUT_MS, signal };
    // The SDK does not hear the signal before it knows which protocol is spoken.
    await untilAborted(client.connect(way.transport, options), signal);
  } catch (error) {
    const fault = way.fault();
    if (await isConsentedTo(way, signal)) return openClient(server, world, listeners, { isLegacy, signal });
    throw fault === undefined ? error : new ProgramEndedError(fault, error);
  }
  const hearing = new AbortController();
  void ended.finally(() => hearing.abort());
  if (listeners.toolsChanged) void keepHearing(client, listeners.toolsChanged, hearing.signal);
  let closing: Promise<void> | undefined;
  return {
    client,
    ended,
    listenTo: (next) => void (hear = next),
    pid: way.pid(),
    isThere: (withinMs) => isThere(client, withinMs),
    close: (why = 'it was closed') => {
      resolve(way.fault() ?? why);
      return (closing ??= closeAll(way, client));
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

async function createWay(server: McpServer, world: McpWorld, options: WayOptions): Promise<Way> {
  const { transport } = server;
  // Each with the first server that is reached so.
  if (transport.kind === 'stdio') {
    const { createProgramWay } = await import('./program-way.factory.js');
    return createProgramWay(transport, world, options.onReceived);
  }
  const { createHttpWay } = await import('./http-way.factory.js');
  return createHttpWay(transport, server, world.config, options);
}

/** Over HTTP silence is no answer of an older server, and a token may be got first. */
function probeTimeoutOf({ transport }: McpServer): number {
  return transport.kind === 'stdio' ? PROBE_TIMEOUT_MS : CONNECT_TIMEOUT_MS;
}

/** Leaves a way by which nobody got in; gives whether a person has meanwhile let us, so that another will do. */
async function isConsentedTo(way: Way, signal: AbortSignal): Promise<boolean> {
  const consent = way.consent?.();
  try {
    if (consent) await untilAborted(consent, signal);
    return Boolean(consent);
  } finally {
    await way.close();
  }
}

/** The newest protocol knows no `ping`. Whatever it answers, it is there. */
async function isThere(client: Client, withinMs: number): Promise<boolean> {
  const options = { timeout: withinMs, maxTotalTimeout: withinMs };
  try {
    await (client.getDiscoverResult() ? client.discover(options) : client.ping(options));
    return true;
  } catch (error) {
    return !isTimeout(error) && !isConnectionLost(error);
  }
}

async function closeAll(way: Way, client: Client): Promise<void> {
  await way.close();
  await client.close().catch(() => undefined);
}
