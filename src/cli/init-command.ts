import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { VERSION } from '../kernel/index.js';
import type { Call, Command } from './command.types.js';

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
  tools: ['*'],
};

/** It imports nothing, so that it works before `npm install`. */
const TOOLS_TEXT = `// The tools of this project. A restart of the server reads this file again. node_modules/jackdaw/docs/tools.md
/** @type {import('jackdaw').ToolRegistration[]} */
export default [
  {
    name: 'weather',
    description: 'Returns the weather in a city.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', description: 'Name of the city' } },
      required: ['city'],
    },
    // May run again after a crash; without it a call runs at most once.
    effect: 'read',
    handler: ({ city }) => \`Sunny in \${city}, 24 °C\`,
  },
];
`;

const COMPOSE_TEXT = `# The server in a container: docker compose up --build
# It accepts requests from other machines with a key only: npx jackdaw key entry me --roles admin, and API_KEYS=… in .env
services:
  agents:
    build:
      context: .
      dockerfile_inline: |
        FROM node:24-bookworm-slim
        WORKDIR /app
        COPY package*.json ./
        RUN npm install --omit=dev --no-audit --no-fund && mkdir /data && chown node:node /data
        COPY config config
        USER node
        CMD ["node", "node_modules/jackdaw/lib/main.js"]
    env_file: .env
    environment:
      NODE_ENV: production
      HOST: 0.0.0.0
      PORT: '3000'
      DATA_DIR: /data
    ports:
      - '127.0.0.1:3000:3000'
    volumes:
      - data:/data
    read_only: true
    tmpfs:
      - /tmp
    cap_drop: [ALL]
    security_opt: ['no-new-privileges:true']
    init: true
    # Longer than SHUTDOWN_GRACE_MS and SHUTDOWN_TIMEOUT_MS together.
    stop_grace_period: 15s
    restart: unless-stopped

volumes:
  data:
`;

/** Writes a first project, without a question. */
export const INIT_COMMAND: Command = {
  name: 'init',
  summary: 'Write a first project: package.json, .env, an agent, a tool, compose.yaml; existing files stay as they are',
  arguments: [{ name: 'folder', help: 'The folder; by default the present one', isOptional: true }],
  json: '{ folder, created, existing }',
  run: init,
};

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
    'config/tools.js': TOOLS_TEXT,
    'compose.yaml': COMPOSE_TEXT,
  };
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
