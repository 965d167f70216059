import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { VERSION } from '../kernel/index.js';
import { CliError, EXIT } from './cli.error.js';
import type { Call, Command } from './command.types.js';
import { writeJson } from './run-commands.js';

const ENV_TEXT = `# The process environment wins over this file. All variables: node_modules/jackdaw/docs/configuration.md
# Without a provider the offline model answers.

# The first provider with a key is used
#OPENAI_API_KEY=
#ANTHROPIC_API_KEY=

# Or a local model: ollama
#LLM_PROVIDER=
#LLM_MODEL=

# TCP port of the server
#PORT=3000

# Folder of Jackdaw’s data
#DATA_DIR=./data
`;

/** The optional peers that a server with documents, CORS and a readable log uses. */
const SERVER_PEERS = {
  '@fastify/cors': '^11.4.1',
  '@nestjs/platform-fastify': '^12.0.0',
  '@nestjs/swagger': '^12.0.0',
  '@nestjs/terminus': '^12.1.0',
  fastify: '^5.12.8',
  'nestjs-pino': '^5.2.1',
  pino: '^10.4.0',
  'pino-http': '^11.0.0',
  'pino-pretty': '^13.2.0',
};

const AGENT = {
  $schema: '../../node_modules/jackdaw/docs/schemas/agent.schema.json',
  name: 'default',
  // The file replaces the agent of the environment, and inherits its model.
  extends: 'default',
  description: 'Answers questions and calculates.',
  instructions: 'You are a helpful assistant. Use the calculator for every calculation.',
  tools: ['calculator', 'get_timestamp'],
};

export const SERVER_COMMANDS: readonly Command[] = [
  {
    name: 'init',
    summary: 'Write a first project: package.json, .env, .gitignore and an agent; existing files stay as they are',
    arguments: [{ name: 'folder', help: 'The folder; by default the present one', isOptional: true }],
    json: '{ folder, created, existing }',
    run: init,
  },
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

async function init(call: Call): Promise<void> {
  const folder = resolve(call.args[0] ?? '.');
  const created: string[] = [];
  const existing: string[] = [];
  for (const [name, text] of Object.entries(filesOf(folder))) {
    const path = join(folder, name);
    if (existsSync(path)) {
      existing.push(name);
      continue;
    }
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: 'wx', ...(name === '.env' && { mode: 0o600 }) });
    created.push(name);
  }
  if (call.isJson) return call.terminal.json({ folder, created, existing });
  for (const name of created) call.terminal.line(`created  ${name}`);
  for (const name of existing) call.terminal.line(`exists   ${name}`);
  call.terminal.note('Next: npm install, npx jackdaw doctor, npx jackdaw chat, npx jackdaw serve');
}

function filesOf(folder: string): Record<string, string> {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  const manifest = {
    name: name || 'agents',
    version: '0.0.0',
    private: true,
    type: 'module',
    scripts: { start: 'jackdaw serve' },
    dependencies: { ...SERVER_PEERS, jackdaw: `^${VERSION}` },
  };
  return {
    'package.json': jsonText(manifest),
    '.env': ENV_TEXT,
    '.gitignore': 'node_modules/\ndata/\n.env\n',
    'config/agents/default.json': jsonText(AGENT),
  };
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

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
