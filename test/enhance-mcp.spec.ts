import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { enhance, registerMcp, unregisterMcp } from '../src/index.js';
import { McpRegistry } from '../src/mcp/index.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { listed, scripted, untilStatus } from './support/mcp/scripted-servers.js';
import { calls, says, ScriptedChatModel } from './support/scripted-chat-model.js';

const ECHO = listed('echo', { inputSchema: { type: 'object', properties: { text: { type: 'string' } } } });
const ASKED = { messages: [{ role: 'user', content: 'go' }] } as const;

/** A model that calls the tool once, then answers with the tool's result. */
function caller(tool: string): ScriptedChatModel {
  return new ScriptedChatModel([
    calls([tool, { text: 'hi' }]),
    async ({ messages }) => says(`It said ${JSON.stringify(messages.at(-1)?.content)}`),
  ]);
}

describe('a model with the tools of an MCP server', () => {
  afterEach(() => unregisterMcp('search-tools'));

  it('calls them by the registered server name without an application', async () => {
    registerMcp(scripted('search-tools', { tools: [ECHO] }));
    const { message } = await enhance(caller('search-tools__echo'), 'search-tools').generate(ASKED);
    expect(message.content).toBe('It said "hi"');
    expect(await unregisterMcp('search-tools')).toBe(true);
    expect(await unregisterMcp('search-tools')).toBe(false);
  });

  it('is refused for an unknown server name, and a duplicate registration is refused', () => {
    expect(() => enhance(caller('x'), 'search-tools')).toThrow('There is no MCP server "search-tools"');
    registerMcp(scripted('search-tools', {}));
    expect(() => registerMcp(scripted('search-tools', {}))).toThrow('MCP server "search-tools" exists already');
    expect(() => registerMcp({ ...scripted('', {}) })).toThrow('the name of the MCP server is missing');
  });

  it.each([
    ['MCP_SERVER_DISABLED', { enabled: false }],
    ['NETWORK_ERROR', { stdio: { command: '/no/such/program' } }],
  ])('fails with %s if the server is unavailable', async (code, change) => {
    registerMcp({ ...scripted('search-tools', {}), ...change });
    await expect(enhance(caller('x'), 'search-tools').generate(ASKED)).rejects.toMatchObject({ code });
  });
});

describe("a model with the tools of an application's server", () => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    jackdaw = await startJackdaw({ options: { mcpServers: [scripted('own', { tools: [ECHO] })] } });
    await untilStatus(jackdaw, 'own');
  });
  afterAll(() => jackdaw.stop());

  it('calls the tools of the running server', async () => {
    const servers = jackdaw.app.get(McpRegistry, { strict: false });
    const { message } = await enhance(caller('own__echo'), 'own', { servers }).generate(ASKED);
    expect(message.content).toBe('It said "hi"');
  });
});
