import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { McpConfig } from '../src/mcp/index.js';
import { callTool } from './support/direct-calls.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { hostile } from './support/mcp/hostile-servers.js';
import { processesWith } from './support/mcp/process-list.js';
import { untilStatus } from './support/mcp/scripted-servers.js';

const EVERYTHING = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
const SECRETS = {
  OPENAI_API_KEY: 'sk-of-ours-1',
  ANTHROPIC_API_KEY: 'sk-of-ours-2',
  DATABASE_URL: 'postgres://ours:secret-of-ours-3@db/x',
  REDIS_URL: 'redis://:secret-of-ours-4@redis',
  API_KEYS: 'key-of-ours-5',
  ENCRYPTION_KEYS: 'secret-of-ours-6',
  TOOL_SECRET_X: 'secret-of-ours-7',
  NODE_OPTIONS: '--max-http-header-size=65535',
  LD_PRELOAD_OF_OURS: 'of-ours-8',
};

describe('a program that is an MCP server', () => {
  const folder = newFolder();
  const touched = join(folder, 'touched');
  const words = [
    `; touch ${touched}`,
    `$(touch ${touched})`,
    `\`touch ${touched}\``,
    `| touch ${touched}`,
    '*',
    '$HOME',
  ];
  const steady = hostile('steady').stdio!;
  const before = { ...process.env };
  let jackdaw: Jackdaw;

  beforeAll(async () => {
    mkdirSync(join(folder, 'with space'));
    Object.assign(process.env, SECRETS);
    const program = (name: string, stdio: McpConfig['stdio'] & object): McpConfig => ({
      name,
      enabled: true,
      type: 'stdio',
      stdio,
    });
    jackdaw = await startJackdaw({
      options: {
        mcpServers: [
          program('everything', { command: process.execPath, args: [EVERYTHING, 'stdio'], env: { GIVEN: 'to it' } }),
          program('args', { ...steady, args: [...steady.args!, ...words] }),
          program('command', { command: `${process.execPath}; touch ${touched}` }),
          program('place', { ...steady, cwd: join(folder, 'with space') }),
          program('nowhere', { ...steady, cwd: join(folder, 'not there') }),
        ],
      },
    });
    await Promise.all(['everything', 'args', 'place'].map((name) => untilStatus(jackdaw, name)));
    await Promise.all(['command', 'nowhere'].map((name) => untilStatus(jackdaw, name, 'failed')));
  });
  afterAll(async () => {
    for (const name of Object.keys(SECRETS)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
    await jackdaw.stop();
    rmSync(folder, { recursive: true });
  });

  it('sees its own variables, and no secret of ours', async () => {
    const { body } = await callTool(jackdaw, 'everything__get-env');
    const text = String(body['result']);
    expect(JSON.parse(text)).toMatchObject({ GIVEN: 'to it', PATH: process.env['PATH'] });
    for (const [name, value] of Object.entries(SECRETS)) {
      expect(text).not.toContain(name);
      expect(text).not.toContain(value);
    }
  });

  it('receives its arguments unchanged: there is no shell', async () => {
    expect((await callTool(jackdaw, 'args__echo', { arguments: { text: 'x' } })).body).toMatchObject({ result: 'x' });
    expect(processesWith(words.join('\u0000'))).toHaveLength(1);
    expect(existsSync(touched)).toBe(false);
  });

  it('runs in its configured folder', async () => {
    const { body } = await callTool(jackdaw, 'place__cwd');
    expect(body['result']).toBe(realpathSync(join(folder, 'with space')));
  });
});

describe('MCP_ALLOWED_COMMANDS', () => {
  let jackdaw: Jackdaw | undefined;
  afterEach(() => jackdaw?.stop());

  const start = (command: string) =>
    startJackdaw({
      env: { MCP_ALLOWED_COMMANDS: `/usr/bin/true,${process.execPath}` },
      options: { mcpServers: [{ ...hostile('steady'), stdio: { ...hostile('steady').stdio!, command } }] },
    });

  it.each(['node', `${process.execPath}x`, `/usr/../${process.execPath}`, '/bin/sh', `${process.execPath} `])(
    'refuses every other program: %s',
    async (command) => {
      await expect(start(command)).rejects.toMatchObject({
        code: 'MCP_SERVER_INVALID',
        message: expect.stringContaining(`${JSON.stringify(command)} is not in MCP_ALLOWED_COMMANDS`),
      });
    },
  );

  it('allows the programs that it names', async () => {
    jackdaw = await start(process.execPath);
    await untilStatus(jackdaw, 'steady');
    expect((await callTool(jackdaw, 'steady__echo', { arguments: { text: 'x' } })).body).toMatchObject({ result: 'x' });
  });
});
