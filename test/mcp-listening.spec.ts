import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callTool } from './support/direct-calls.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { ListenedServer } from './support/mcp/listened-server.js';
import { untilTool } from './support/mcp/real-servers.js';
import { listed, untilStatus } from './support/mcp/scripted-servers.js';

describe('the notification stream of an MCP server', () => {
  let server: ListenedServer;
  let jackdaw: Jackdaw;
  beforeEach(async () => {
    server = await ListenedServer.start();
    server.tools = [listed('one')];
  });
  afterEach(async () => {
    await jackdaw.stop();
    await server.close();
  });
  const start = async (more: object = {}) => {
    const mcpServers = [
      { name: 's', enabled: true, type: 'http', http: { url: server.url }, pins: 'follow', ...more } as const,
    ];
    jackdaw = await startJackdaw({ options: { mcpServers } });
    await untilStatus(jackdaw, 's');
  };

  it('reopens after it ended, and changes in between are detected', async () => {
    await start();
    server.tools = [listed('one'), listed('two')];
    server.streams[0]!.end();
    await untilTool(jackdaw, 's__two');
    server.tools = [listed('three')];
    server.notifyChanged();
    await untilTool(jackdaw, 's__three');
    expect(server.streams).toHaveLength(2);
  });

  it('exists once per server, however many sessions have connections of their own', async () => {
    await start({ stateful: true });
    const { body } = await callTool(jackdaw, 's__one');
    expect(body).toMatchObject({ result: 'done' });
    expect(server.streams).toHaveLength(1);
  });
});
