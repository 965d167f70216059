import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ToolRegistry } from '../src/tool/index.js';
import { callTool } from './support/direct-calls.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { listed, scripted, untilStatus } from './support/mcp/scripted-servers.js';
import { callOf } from './support/waiting-run.js';

const TOOLS = [listed('picture'), listed('get_prompt', { description: 'Its own.' })];

describe('resources and prompts of an MCP server', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  /** The SDK writes to the console here, between lines of our own log. */
  const said = vi.spyOn(console, 'debug');
  beforeAll(async () => {
    llm = await FakeLlm.start();
    const mcpServers = [
      scripted('has', { tools: TOOLS, content: true }),
      scripted('bare', { tools: TOOLS }),
      scripted('no-tools', { content: true }),
    ];
    jackdaw = await startJackdaw({ llm, options: { mcpServers } });
    await Promise.all(['has', 'bare', 'no-tools'].map((name) => untilStatus(jackdaw, name)));
  });
  afterEach(() => llm.reset());
  afterAll(async () => {
    said.mockRestore();
    await jackdaw.stop();
    await llm.close();
  });

  const get = async (path: string) => (await jackdaw.get(`/api/mcp/servers/${path}`)).body;
  const call = async (tool: string, args: object = {}) => (await callTool(jackdaw, tool, { arguments: args })).body;

  it('are read over REST', async () => {
    expect(await get('has/resources')).toEqual({ items: [{ uri: 'note:1', name: 'A note' }], next: null });
    expect(await get('has/resource-templates')).toMatchObject({ items: [{ uriTemplate: 'note:{n}' }] });
    expect(await get('has/resource?uri=note:7')).toMatchObject({ items: [{ uri: 'note:7', text: 'noted' }] });
    expect(await get('has/prompts')).toMatchObject({ items: [{ name: 'x' }] });
    const { body } = await jackdaw.post('/api/mcp/servers/has/prompt', { name: 'x', arguments: { what: 'hi' } });
    expect(body['items']).toEqual([{ role: 'user', content: { type: 'text', text: 'Say hi' } }]);
    expect(await get('has/resource?uri=other')).toMatchObject({ status: 404, code: 'RESOURCE_NOT_FOUND' });
    const unknown = await jackdaw.post('/api/mcp/servers/has/prompt', { name: 'y' });
    expect([unknown.status, unknown.body['code']]).toEqual([404, 'PROMPT_NOT_FOUND']);
    expect(await get('bare/resources')).toMatchObject({ status: 404 });
    expect(await get('none/resources')).toMatchObject({ status: 404, code: 'MCP_SERVER_NOT_FOUND' });
  });

  it('are read by tools if the server has any and no tool of that name', async () => {
    const names = jackdaw.app
      .get(ToolRegistry)
      .list()
      .map(({ definition }) => definition.name);
    expect(names.filter((name) => name.startsWith('bare__'))).toEqual(['bare__picture', 'bare__get_prompt']);
    expect(names.filter((name) => name.startsWith('has__'))).toEqual([
      'has__picture',
      'has__get_prompt',
      'has__list_resources',
      'has__read_resource',
      'has__list_prompts',
    ]);
    expect(names.filter((name) => name.startsWith('no-tools__'))).toHaveLength(4);
    expect(said).not.toHaveBeenCalled();
    expect((await call('has__list_resources'))['result']).toEqual({
      items: [{ uri: 'note:1', name: 'A note' }],
      next: null,
    });
    expect((await call('has__read_resource', { uri: 'note:2' }))['result']).toMatchObject([{ text: 'noted' }]);
    expect(await call('has__read_resource', {})).toMatchObject({ code: 'TOOL_INVALID_ARGUMENTS' });
    expect(jackdaw.app.get(ToolRegistry).get('has__get_prompt').definition.description).toBe('Its own.');
  });

  it('are shown to the model as images if they are images', async () => {
    llm.reply({ text: '', calls: [{ ...callOf('has__picture', {}), id: 'c' }] }, { text: 'nice' });
    await jackdaw.chat({ query: 'show me' });
    expect(JSON.stringify(llm.requests.at(-1))).toContain('data:image/png;base64,iVBORw0KGgo=');
  });
});
