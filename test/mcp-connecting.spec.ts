import { afterEach, describe, expect, it } from 'vitest';
import { createServer, type Server } from 'node:net';
import type { McpConfig } from '../src/mcp/index.js';
import { McpRegistry } from '../src/mcp/index.js';
import { callTool } from './support/direct-calls.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { hostile, PATIENCE_MS, SHORT_TIMEOUT_MS } from './support/mcp/hostile-servers.js';
import { processesWith } from './support/mcp/process-list.js';
import { untilStatus } from './support/mcp/scripted-servers.js';

const PLACE = `connecting-${process.pid}`;
const named = (server: McpConfig, name: string): McpConfig => ({ ...server, name });
const NO_PROGRAM = { enabled: true, type: 'stdio', stdio: { command: '/no/such/program' } } as const;

let jackdaw: Jackdaw;
let silent: Server | undefined;
afterEach(async () => {
  await jackdaw.stop();
  silent?.close();
});

const start = async (mcpServers: readonly McpConfig[]) => (jackdaw = await startJackdaw({ options: { mcpServers } }));
const stateOf = (name: string) => jackdaw.app.get(McpRegistry, { strict: false }).get(name).state;

/** Accepts connections, and never sends anything. */
async function silentServer(): Promise<McpConfig> {
  silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent!.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as { port: number };
  return { name: 'silent', enabled: true, type: 'http', http: { url: `http://127.0.0.1:${port}/` } };
}

describe('a server that fails to connect', () => {
  it.each([
    ['stillborn', hostile('stillborn', 'legacy', PLACE), /it exited with 1/],
    ['bad-initialize', hostile('bad-initialize', 'legacy', PLACE), /initialize/],
    ['old-initialize', hostile('old-initialize', 'legacy', PLACE), /1999-01-01/],
    ['missing', named(NO_PROGRAM as McpConfig, 'missing'), /ENOENT/],
    [
      'refused',
      { name: 'refused', enabled: true, type: 'http', http: { url: 'http://127.0.0.1:9/' } },
      /cannot be reached/,
    ],
  ] as const)('reports the reason and the next attempt: %s', async (name, server, why) => {
    await start([server, hostile('steady', 'legacy', PLACE)]);
    await untilStatus(jackdaw, name, 'failed');
    const { error, retryAt, since, connects } = stateOf(name);
    expect(error).toMatch(why);
    expect(connects).toBe(0);
    expect(retryAt! - since).toBeGreaterThan(0);
    expect(retryAt! - since).toBeLessThan(1100);
    await untilStatus(jackdaw, 'steady');
    expect((await callTool(jackdaw, 'steady__echo', { arguments: { text: 'x' } })).body).toMatchObject({ result: 'x' });
  });

  it('delays neither the start nor the shutdown', async () => {
    const mute = Array.from({ length: 5 }, (_, n) => named(hostile('mute', 'legacy', PLACE), `mute${n}`));
    const missing = Array.from({ length: 10 }, (_, n) => named(NO_PROGRAM as McpConfig, `missing${n}`));
    const deaf = named(hostile('deaf', 'legacy', PLACE), 'deaf');
    await start([...mute, ...missing, deaf, await silentServer()]);
    for (const { name } of mute) expect(stateOf(name).status).toBe('connecting');
    expect((await jackdaw.get('/api/health/ready')).status).toBe(200);
    await Promise.all([untilStatus(jackdaw, 'deaf'), untilStatus(jackdaw, 'missing9', 'failed')]);
    const began = performance.now();
    await jackdaw.app.close();
    expect(performance.now() - began).toBeLessThan(PATIENCE_MS / 2);
    expect(stateOf('silent').status).toBe('closed');
    expect(processesWith(PLACE)).toEqual([]);
  });

  it('does not delay the shutdown while its tools are listed', async () => {
    await start([hostile('mute-list', 'legacy', PLACE)]);
    await jackdaw.app.close();
    expect(stateOf('mute-list').status).toBe('closed');
  });
});

describe('a server that stops answering', () => {
  it('is replaced after a call that timed out', async () => {
    await start([{ ...hostile('freeze', 'legacy', PLACE), timeoutMs: SHORT_TIMEOUT_MS } as McpConfig]);
    await untilStatus(jackdaw, 'freeze');
    const pidOf = async () => (await callTool(jackdaw, 'freeze__pid')).body['result'];
    const before = await pidOf();
    expect((await callTool(jackdaw, 'freeze__strike')).body).toMatchObject({ code: 'TOOL_TIMEOUT' });
    await untilStatus(jackdaw, 'freeze', 'failed');
    expect(stateOf('freeze').error).toMatch('it no longer answers');
    await untilStatus(jackdaw, 'freeze');
    expect(Number(await pidOf())).not.toBe(Number(before));
    expect(stateOf('freeze').connects).toBe(2);
  });

  it('stays connected after a single slow call', async () => {
    await start([{ ...hostile('hang', 'legacy', PLACE), timeoutMs: SHORT_TIMEOUT_MS } as McpConfig]);
    await untilStatus(jackdaw, 'hang');
    expect((await callTool(jackdaw, 'hang__strike')).body).toMatchObject({ code: 'TOOL_TIMEOUT' });
    expect((await callTool(jackdaw, 'hang__strike')).body).toMatchObject({ code: 'TOOL_TIMEOUT' });
    expect(stateOf('hang')).toMatchObject({ status: 'ready', connects: 1 });
  });
});
