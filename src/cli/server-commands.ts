import { CliError, EXIT } from './cli.error.js';
import type { Call, Command } from './command.types.js';
import { INIT_COMMAND } from './init-command.js';
import { writeJson } from './run-commands.js';

export const SERVER_COMMANDS: readonly Command[] = [
  INIT_COMMAND,
  {
    name: 'serve',
    summary: 'Serve the REST API with the configuration of this folder, until a signal',
    options: {
      port: { value: 'port', help: 'TCP port, in place of PORT; 0 selects a free one' },
      host: { value: 'address', help: 'Address, in place of HOST' },
    },
    json: 'log lines',
    run: serveHere,
  },
  {
    name: 'mcp stdio',
    summary: 'Serve one MCP client, which starts this command, over standard input and output (docs/mcp-server.md)',
    json: 'MCP messages',
    run: async () => void (await import('../mcp-stdio.js')),
  },
  {
    name: 'openapi',
    summary: 'Write the OpenAPI document of the server, with its tools',
    options: { output: { value: 'file', help: 'A new file; by default standard output' } },
    json: 'an OpenAPI 3.1 document',
    run: async (call) => {
      const connection = await call.connect();
      const response = await connection.read('/docs/json');
      if (!response.ok) {
        call.terminal.note(
          `The server answered ${response.status}: it serves the document with DOCS_ENABLED=true.`,
          'red',
        );
        return EXIT.failed;
      }
      writeJson(call, await response.json());
      return EXIT.ok;
    },
  },
];

/** Resolves when the server listens; it ends the process at a signal. */
async function serveHere(call: Call): Promise<number> {
  const { serve } = await import('../server/index.js');
  const [port, host] = [call.text('port'), call.text('host')];
  const config = {
    ...(port !== undefined && { PORT: port }),
    ...(host !== undefined && { HOST: host }),
    ...(call.isJson && { LOG_FORMAT: 'json' }),
    ...(call.flag('verbose') && { LOG_LEVEL: 'debug' }),
  };
  try {
    await serve({ config });
  } catch (error) {
    if (!(error instanceof Error) || Reflect.get(error, 'code') !== 'DATABASE_LOCKED') throw error;
    // A supervisor need not restart it: the other process keeps the database (docs/platforms.md).
    throw new CliError('DATABASE_LOCKED', error.message, EXIT.locked);
  }
  return EXIT.ok;
}
