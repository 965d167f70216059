import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { keyHolder } from './support/api-keys.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { textOf, type AnyClient } from './support/mcp-clients.js';
import { buildIfStale, CODE_CACHE } from './support/process.js';

const NAME = { name: 'test', version: '1.0.0' };
const ANN = keyHolder('ann', 'a', 'admin');
const INSPECTOR = 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js';
const { PATH = '', HOME = '' } = process.env;
const BASE = { PATH, HOME, NODE_COMPILE_CACHE: CODE_CACHE };

/** How the server is started for one client. */
function served(more: Readonly<Record<string, string>> = {}) {
  const env = { ...BASE, DATA_DIR: newFolder(), LLM_PROVIDER: 'offline', LOG_LEVEL: 'debug', ...more };
  return { command: process.execPath, args: ['dist/mcp-stdio.js'], env, stderr: 'ignore' as const };
}

async function newStdio(): Promise<Client> {
  const client = new Client(NAME, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StdioClientTransport(served()));
  return client;
}

async function oldStdio(): Promise<OldClient> {
  const client = new OldClient(NAME);
  await client.connect(new OldStdio(served()));
  return client;
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the server without an SDK client. @param input messages that the client sends before it ends */
async function stdio(env: Readonly<Record<string, string>>, input: readonly object[] = []): Promise<Ended> {
  const given = served(env);
  const child = spawn(given.command, given.args, { env: given.env });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text));
  }
  for (const message of input) child.stdin.write(`${JSON.stringify(message)}\n`);
  if (input.length > 0) await once(child.stdout, 'data');
  child.stdin.end();
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...texts };
}

beforeAll(() => buildIfStale());

describe.each([
  ['of version 2', newStdio],
  ['of version 1', oldStdio],
])('the SDK’s client %s, over standard input and output', (_name, connect) => {
  it('lists, calls, reads and ends', async () => {
    const client: AnyClient = await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('calculator');
    expect(textOf(await client.callTool({ name: 'calculator', arguments: { expression: '6 * 7' } }))).toBe('42');
    const asked = await client.callTool({ name: 'ask_default', arguments: { message: 'What is 2 + 3?' } });
    expect(textOf(asked)).toContain('5');
    const { session_id } = asked.structuredContent as { session_id: string };
    const { contents } = await client.readResource({ uri: `jackdaw://sessions/${session_id}` });
    expect(JSON.stringify(contents)).toContain('2 + 3');
    await client.close();
  });
});

describe('the server at standard input and output', () => {
  const INITIALIZE = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: NAME },
  };

  it('writes only the protocol there, and ends when its input does', async () => {
    const { code, stdout, stderr } = await stdio({}, [INITIALIZE]);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { id: 1, result: { protocolVersion: '2024-11-05' } }]);
    expect(stderr).toContain('"level"');
  });

  it('requires a key if keys are configured', async () => {
    const refused = await stdio({ API_KEYS: ANN.entry });
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toContain('MCP_STDIO_KEY');
    const admitted = await stdio({ API_KEYS: ANN.entry, MCP_STDIO_KEY: ANN.key }, [INITIALIZE]);
    expect([admitted.code, JSON.parse(admitted.stdout)]).toMatchObject([0, { id: 1 }]);
  });

  it('ends at SIGTERM', async () => {
    const { command, args, env } = served();
    const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
    child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});

describe('the Inspector’s command line', () => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    jackdaw = await startJackdaw({ env: { API_KEYS: ANN.entry } });
  });
  afterAll(() => jackdaw.stop());

  async function inspect(...args: string[]): Promise<Record<string, never>> {
    const given = [INSPECTOR, '--cli', `${jackdaw.url}/mcp`, '--header', `Authorization: Bearer ${ANN.key}`, ...args];
    const child = spawn(process.execPath, given, { env: BASE, stdio: ['ignore', 'pipe', 'pipe'] });
    const texts = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text));
    }
    const [code] = (await once(child, 'close')) as [number];
    expect({ code, ...texts }).toMatchObject({ code: 0 });
    return JSON.parse(texts.stdout) as Record<string, never>;
  }

  it('lists the tools, calls one, and reads', async () => {
    const { tools } = await inspect('--method', 'tools/list');
    expect(tools).toContainEqual(expect.objectContaining({ name: 'calculator' }));
    const called = await inspect('--method', 'tools/call', '--tool-name', 'calculator', '--tool-arg', 'expression=6*7');
    expect(textOf(called)).toBe('42');
    const { prompts } = await inspect('--method', 'prompts/list');
    expect(prompts).toMatchObject([{ name: 'ask_default' }]);
    const { resources } = await inspect('--method', 'resources/list');
    expect(resources).toContainEqual(expect.objectContaining({ description: 'A run of tool:calculator, completed' }));
  });
});
