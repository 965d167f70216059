import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { clusterStores, describeClusters } from './support/cluster-stores.js';
import { newFolder } from './support/jackdaw.js';
import { ListenedServer } from './support/mcp/listened-server.js';
import { SseServer } from './support/mcp/sse-server.js';
import { buildIfStale, killAll, program, ServerProcess } from './support/process.js';
import { describeDatabases, testServers } from './support/test-databases.js';
import { PATIENCE_MS } from './support/patience.js';

const servers = (await testServers()).filter(({ kind }) => kind === 'mariadb');
const clusters = await clusterStores();

describe('a process that never closes Jackdaw', () => {
  const folder = newFolder();
  beforeAll(() => buildIfStale());
  afterAll(async () => {
    await killAll();
    rmSync(folder, { recursive: true });
  });

  async function linesOf(moment: string, settings: object, env: Record<string, string> = {}): Promise<unknown> {
    const args = [moment, JSON.stringify({ DATA_DIR: folder, ...settings })];
    const script = ServerProcess.start(program('never-closed'), env, args);
    const timer = setTimeout(() => void script.kill(), PATIENCE_MS);
    const { code } = await script.ended;
    clearTimeout(timer);
    return { code, lines: script.lines };
  }

  const IDLE = { code: 0, lines: ['42', 'exit 0'] };
  const OPEN = { code: 0, lines: ['Late.', 'exit 0'] };

  it('ends by itself after its last call', async () => {
    expect(await linesOf('idle', {})).toEqual(IDLE);
  });

  it('finishes an open run first', async () => {
    expect(await linesOf('open', {})).toEqual(OPEN);
  });

  it('stays alive until the close with keepAlive', async () => {
    expect(await linesOf('keep', {})).toEqual({ code: 0, lines: ['alive', 'exit 0'] });
  });

  it('ends by itself with a connected MCP program', async () => {
    const stdio = { command: process.execPath, args: [resolve('test/support/mcp/scripted-server.mjs')] };
    const mcpServers = [{ name: 'local', enabled: true, type: 'stdio', stdio }];
    expect(await linesOf('idle', { mcpServers })).toEqual(IDLE);
  });

  it.each([
    ['notification stream', 'http', () => ListenedServer.start()],
    ['message stream', 'sse', () => SseServer.start()],
  ] as const)('ends by itself with the open %s of an MCP server over HTTP', async (_name, type, startServer) => {
    const server = await startServer();
    const mcpServers = [{ name: 'local', enabled: true, type, http: { url: server.url } }];
    const lines = await linesOf('idle', { mcpServers });
    await server.close();
    expect(lines).toEqual(IDLE);
  });

  function itEnds(env: () => object): void {
    it('ends by itself after its last call, and finishes an open run first', async () => {
      const test = { NODE_ENV: 'test' };
      expect(await linesOf('idle', env(), test)).toEqual(IDLE);
      expect(await linesOf('open', env(), test)).toEqual(OPEN);
    });
  }

  describeDatabases('on a server', servers, (created) => itEnds(() => ({ DATABASE_URL: created().url })));

  describeClusters('in a test on a database that processes share', clusters, (store) => {
    let env: Record<string, string>;
    beforeAll(async () => {
      env = await store.open();
    });
    afterAll(() => store.close());
    itEnds(() => env);

    it('stays alive outside of a test, as it is a worker', async () => {
      expect(await linesOf('keep', { ...env })).toEqual({ code: 0, lines: ['alive', 'exit 0'] });
    });
  });
});
