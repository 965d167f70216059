import type { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { untilAborted } from '../../common/index.js';
import type { AppConfig } from '../../config/index.js';
import type { McpServer, McpTransport } from '../mcp-server.types.js';
import type { ChildLedger } from '../process/child-ledger.store.js';
import { ChildProcessTransport } from '../process/child-process-transport.js';
import { createHttpWay } from './http-way.factory.js';
import { loadMcpSdk, loadStdioSdk } from './mcp-sdk.loader.js';
import { withoutSecrets } from './secret.filter.js';
import type { Way, WayOptions } from './way.types.js';

/** What connections need of the world. */
export interface McpWorld {
  readonly config: Pick<AppConfig, 'mcp' | 'outgoing'>;
  readonly ledger: ChildLedger;
}

/** What a connection hears of its server. */
export interface McpListeners {
  readonly toolsChanged: () => void;
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
  readonly close: () => Promise<void>;
}

/** What a server may take to answer the first message, in ms. */
const CONNECT_TIMEOUT_MS = 30_000;
/** What a program may take to say whether it speaks the newest protocol; one that is silent is taken for an older one. */
const PROBE_TIMEOUT_MS = 5000;
/** The most pages of one list. */
const MAX_PAGES = 64;

/** Our own name to servers. */
export const CLIENT_INFO = { name: 'jackdaw', version: '0.1.0' };

/**
 * Connects to a server with the newest protocol that both know.
 * @param isLegacy whether it is known to speak none of the newer protocols
 * @throws Error when it cannot be connected to
 */
export async function openClient(
  server: McpServer,
  world: McpWorld,
  listeners: McpListeners,
  { isLegacy, signal }: { isLegacy: boolean; signal: AbortSignal },
): Promise<OpenedClient> {
  const { Client } = await loadMcpSdk();
  let hear: ((bytes: number) => void) | null = null;
  const way = await createWay(server, world, { onReceived: (bytes) => hear?.(bytes), signal });
  const client = new Client(CLIENT_INFO, {
    capabilities: { elicitation: { form: { applyDefaults: true }, url: {} } },
    versionNegotiation: { mode: isLegacy ? 'legacy' : 'auto', probe: { timeoutMs: probeTimeoutOf(server) } },
    inputRequired: { autoFulfill: false },
    listChanged: { tools: { autoRefresh: false, debounceMs: 200, onChanged: () => listeners.toolsChanged() } },
    listMaxPages: MAX_PAGES,
  });
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) =>
    listeners.elicited(params as ElicitParams, mcpReq.signal),
  );
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  let said: string | undefined;
  Object.assign(client, {
    onerror: (error: Error) => void (said = withoutSecrets(error, server)),
    onclose: () => resolve(way.fault() ?? said ?? 'it closed the connection'),
  });
  try {
    const limits = { timeout: CONNECT_TIMEOUT_MS, maxTotalTimeout: CONNECT_TIMEOUT_MS, signal };
    // The SDK does not hear the signal before it knows which protocol is spoken.
    await untilAborted(client.connect(way.transport, limits), signal);
  } catch (error) {
    const fault = way.fault();
    if (await isConsentedTo(way, signal)) return openClient(server, world, listeners, { isLegacy, signal });
    throw fault === undefined ? error : new Error(fault, { cause: error });
  }
  return {
    client,
    ended,
    listenTo: (next) => void (hear = next),
    pid: way.transport instanceof ChildProcessTransport ? way.transport.pid : null,
    close: async () => {
      await endSession(way.transport as StreamableHTTPClientTransport);
      await client.close().catch(() => undefined);
      await way.close();
      resolve('it was closed');
    },
  };
}

async function createWay(server: McpServer, world: McpWorld, options: WayOptions): Promise<Way> {
  const { transport } = server;
  return transport.kind === 'stdio'
    ? createProgram(transport, world, options)
    : createHttpWay(transport, server, world.config, options);
}

async function createProgram(
  program: Extract<McpTransport, { kind: 'stdio' }>,
  { config, ledger }: McpWorld,
  { onReceived }: WayOptions,
): Promise<Way> {
  const [{ deserializeMessage }, { getDefaultEnvironment }] = await Promise.all([loadMcpSdk(), loadStdioSdk()]);
  const transport = new ChildProcessTransport(program, {
    ledger,
    maxMessageBytes: config.mcp.maxMessageBytes,
    baseEnv: getDefaultEnvironment(),
    onReceived,
    parse: deserializeMessage,
  });
  return {
    transport,
    close: () => transport.close(),
    fault: () => (transport.fault === undefined ? undefined : withLastWords(transport.fault, transport.lastWords)),
  };
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

/** An older server remembers a session until it is told that it is over. */
async function endSession(transport: Partial<StreamableHTTPClientTransport>): Promise<void> {
  if (!transport.terminateSession || transport.sessionId === undefined) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, 1000);
  transport.terminateSession().then(resolve, () => resolve());
  await promise.finally(() => clearTimeout(timer));
}

function withLastWords(fault: string, words: string): string {
  const [last = ''] = words.split('\n').slice(-1);
  return last === '' ? fault : `${fault}; it last wrote: ${last.slice(0, 300)}`;
}
