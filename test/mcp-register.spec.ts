import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { registerMcp, unregisterMcp, type McpConfig } from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { listed, scripted } from './support/mcp/scripted-servers.js';
import { calls, says } from './support/scripted-chat-model.js';

Logger.overrideLogger(false);

const ECHO = listed('echo', { inputSchema: { type: 'object', properties: { text: { type: 'string' } } } });
const NAMES = ['code', 'bad', 'off'];
const host = new AgentHost();
afterEach(async () => {
  for (const name of NAMES) await unregisterMcp(name);
});
afterAll(() => host.stop());

describe('registerMcp', () => {
  it('gives agents that are created afterwards the tools of the server, from the first question on', async () => {
    registerMcp(scripted('code', { tools: [ECHO, listed('pid')] }));
    const agent = await host.start({}, [calls(['code__echo', { text: 'hi' }]), says('It said hi.')]);
    expect((await agent.chat('go')).content).toBe('It said hi.');
    expect(await agent.executeTool('code__echo', { text: 'by hand' })).toBe('by hand');
    await expect(agent.executeTool('code__no')).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' });
  });

  it('ends with the agent the programs that it started', async () => {
    registerMcp(scripted('code', { tools: [listed('pid')] }));
    const agent = await host.start({}, []);
    const pid = Number(await agent.executeTool('code__pid'));
    expect(process.kill(pid, 0)).toBe(true);
    await agent.close();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('starts no disabled server', async () => {
    registerMcp(scripted('off', { tools: [ECHO] }, { enabled: false }));
    const agent = await host.start({}, [says('Nothing there.')]);
    expect((await agent.chat('go')).content).toBe('Nothing there.');
    await expect(agent.executeTool('off__echo')).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' });
  });

  it('accepts a name once, and refuses a missing name', async () => {
    registerMcp(scripted('code', {}));
    expect(() => registerMcp(scripted('code', {}))).toThrow(
      expect.objectContaining({ code: 'MCP_SERVER_DUPLICATE', details: { server: 'code' } }),
    );
    for (const name of ['', ' ', undefined]) {
      expect(() => registerMcp({ name, enabled: true, type: 'http' } as McpConfig)).toThrow(
        expect.objectContaining({ code: 'MCP_SERVER_INVALID' }),
      );
    }
    expect([await unregisterMcp('code'), await unregisterMcp('code')]).toEqual([true, false]);
    registerMcp(scripted('code', {}));
  });

  it('reports mistakes when an agent is created', async () => {
    registerMcp({ name: 'bad', enabled: true, type: 'stdio', http: { url: 'http://127.0.0.1:1' } });
    await expect(host.start({})).rejects.toMatchObject({
      code: 'MCP_SERVER_INVALID',
      message: 'registerMcp("bad"): its type is stdio, but it has no stdio: give stdio only.',
    });
  });
});
