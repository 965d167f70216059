import type { Transport } from '@modelcontextprotocol/client';
import type { McpClientConfig, SecurityConfig } from '../../config/index.js';
import type { McpTransport } from '../mcp-server.types.js';
import type { ChildLedger } from '../process/child-ledger.store.js';
import { ChildProcessTransport } from '../process/child-process-transport.js';
import { loadStdioSdk } from './mcp-sdk.loader.js';
import { hideSecrets } from './secret.filter.js';

/** Shared dependencies of connections. */
export interface McpWorld {
  readonly config: McpClientConfig;
  readonly outgoing: SecurityConfig['outgoing'];
  readonly ledger: ChildLedger;
}

/** A transport to a server, with its life cycle. */
export interface ServerTransport {
  readonly transport: Transport;
  readonly pid: () => number | null;
  /** Why the program ended, if the server is a program that has ended. */
  readonly fault: () => string | undefined;
  /** Adds the last output of a program to the text of an error. */
  readonly explain?: (text: string) => string;
  /** Ends the transport, and the session of the server, if it has one. */
  readonly close: () => Promise<void>;
  /** The consent of a person that must precede other messages, while one is pending. */
  readonly consent?: () => Promise<void> | null;
}

/** The wait for the `endpoint` event of a server that may speak the transport of 2024. */
export interface EndpointWait {
  readonly timeoutMs: number;
  /** Set when the event has named an address for messages. */
  isReceived: boolean;
}

export interface TransportOptions {
  /** Receives the number of received bytes. */
  readonly onReceived: (bytes: number) => void;
  /** Aborted when the connection is abandoned. */
  readonly signal: AbortSignal;
  readonly endpoint?: EndpointWait;
}

/** Maximum number and length (UTF-16 units) of the reported last lines. */
const MAX_LAST_LINES = 8;
const MAX_LAST_WORDS = 600;

/** Creates the transport to a server that is a program. */
export async function createStdioTransport(
  program: Extract<McpTransport, { kind: 'stdio' }>,
  { config, ledger }: McpWorld,
  onReceived: (bytes: number) => void,
): Promise<ServerTransport> {
  const { getDefaultEnvironment } = await loadStdioSdk();
  const transport = new ChildProcessTransport(program, {
    ledger,
    maxMessageBytes: config.maxMessageBytes,
    baseEnv: getDefaultEnvironment(),
    onReceived,
  });
  // Masked before it is cut: part of a secret is not found.
  const lastWords = () => hideSecrets(transport.lastWords, { transport: program });
  return {
    transport,
    pid: () => transport.pid,
    fault: () => (transport.fault === undefined ? undefined : withLastWords(transport.fault, lastWords())),
    explain: (text) => withLastWords(text, lastWords()),
    close: () => transport.close(),
  };
}

/** @param words the end of its stderr, without secrets */
function withLastWords(fault: string, words: string): string {
  if (words === '') return fault;
  const lines = words.split('\n').slice(-MAX_LAST_LINES).join('\n');
  return `${fault}; the end of its stderr:\n${lines.slice(-MAX_LAST_WORDS)}`;
}
