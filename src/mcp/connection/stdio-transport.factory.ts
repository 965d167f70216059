import type { McpWorld, ServerTransport } from './server-transport.types.js';
import type { McpTransport } from '../mcp-server.types.js';
import { ChildProcessTransport } from '../process/child-process-transport.js';
import { loadStdioSdk } from './mcp-sdk.loader.js';
import { hideSecrets } from './secret.filter.js';

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
