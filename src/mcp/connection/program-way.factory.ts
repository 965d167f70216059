import type { McpTransport } from '../mcp-server.types.js';
import { ChildProcessTransport } from '../process/child-process-transport.js';
import { loadStdioSdk } from './mcp-sdk.loader.js';
import type { McpWorld, ServerTransport } from './way.types.js';

const MAX_LAST_WORDS = 300;

/** Creates the transport to a server that is a program. */
export async function createProgramTransport(
  program: Extract<McpTransport, { kind: 'stdio' }>,
  { config, ledger }: McpWorld,
  onReceived: (bytes: number) => void,
): Promise<ServerTransport> {
  const { getDefaultEnvironment } = await loadStdioSdk();
  const transport = new ChildProcessTransport(program, {
    ledger,
    maxMessageBytes: config.mcp.maxMessageBytes,
    baseEnv: getDefaultEnvironment(),
    onReceived,
  });
  return {
    transport,
    pid: () => transport.pid,
    fault: () => (transport.fault === undefined ? undefined : withLastWords(transport.fault, transport.lastWords)),
    close: () => transport.close(),
  };
}

function withLastWords(fault: string, words: string): string {
  const [last = ''] = words.split('\n').slice(-1);
  return last === '' ? fault : `${fault}; it last wrote: ${last.slice(0, MAX_LAST_WORDS)}`;
}
