import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { McpRegistry } from '../src/mcp/index.js';
import { callTool } from './support/direct-calls.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { CountingServer } from './support/mcp/counting-server.js';
import { untilStatus } from './support/mcp/scripted-servers.js';

describe('a restarted server that has lost our session', () => {
  let counting: CountingServer;
  let jackdaw: Jackdaw;
  beforeEach(async () => {
    counting = await CountingServer.start();
    await start('hold');
  });
  afterEach(async () => {
    await jackdaw.stop();
    await counting.close();
  });
  const start = async (pins: 'hold' | 'block') => {
    const server = { name: 'c', enabled: true, type: 'http', http: { url: counting.url }, pins } as const;
    jackdaw = await startJackdaw({ options: { mcpServers: [server] } });
    await untilStatus(jackdaw, 'c');
    await count();
    counting.forget();
  };
  const count = async () => (await callTool(jackdaw, 'c__count')).body;

  it('is called again in a new session: it has not executed the call', async () => {
    const { started } = counting;
    const counts = await Promise.all([count(), count()]);
    expect(counts.map(({ result }) => String(result)).toSorted()).toEqual(['1', '2']);
    expect(counting.started - started).toBe(1);
    expect(jackdaw.app.get(McpRegistry).get('c').state).toMatchObject({ status: 'ready', connects: 2 });
  });

  it('is called by the accepted definition when its tool has changed', async () => {
    counting.description = 'Counts, and more.';
    expect(await count()).toMatchObject({ success: true, result: '1' });
    expect(jackdaw.app.get(McpRegistry).get('c').state).toMatchObject({ status: 'ready', connects: 2 });
  });

  it('is not called when its tool has changed and changes block it', async () => {
    await jackdaw.stop();
    await start('block');
    counting.description = 'Counts, and more.';
    expect(await count()).toMatchObject({
      code: 'TOOL_FAILED',
      error: expect.stringContaining('differs from the accepted one'),
    });
    expect(counting.open.sessions).toBe(1);
  });

  it('lets the call fail when it cannot be connected', async () => {
    counting.isRefusing = true;
    expect(await count()).toMatchObject({ code: 'TOOL_FAILED', error: expect.stringContaining('is not connected') });
  });
});
