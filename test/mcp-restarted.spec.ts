import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
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
    const server = { name: 'c', enabled: true, type: 'http', http: { url: counting.url } } as const;
    jackdaw = await startJackdaw({ options: { mcpServers: [server] } });
    await untilStatus(jackdaw, 'c');
    await count();
    counting.forget();
  });
  afterEach(async () => {
    await jackdaw.stop();
    await counting.close();
  });
  const count = async () => (await callTool(jackdaw, 'c__count')).body;

  it('is called again in a new session: it has not executed the call', async () => {
    const { begun } = counting;
    const counts = await Promise.all([count(), count()]);
    expect(counts.map(({ result }) => String(result)).toSorted()).toEqual(['1', '2']);
    expect(counting.begun - begun).toBe(1);
    expect(jackdaw.app.get(McpRegistry).get('c').state).toMatchObject({ status: 'ready', connects: 2 });
  });

  it('is not called when its tool has changed', async () => {
    counting.description = 'Counts, and more.';
    expect(await count()).toMatchObject({ code: 'TOOL_FAILED', error: expect.stringContaining('was removed') });
    expect(counting.open.sessions).toBe(1);
  });

  it('lets the call fail when it cannot be connected', async () => {
    counting.isRefusing = true;
    expect(await count()).toMatchObject({ code: 'TOOL_FAILED', error: expect.stringContaining('is not connected') });
  });
});
