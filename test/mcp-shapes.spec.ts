import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTool } from './support/direct-calls.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { listed, scripted, untilStatus } from './support/mcp/scripted-servers.js';

const FORMAT = { type: 'string', enum: ['png', 'jpeg'], default: 'png' };
const NESTED = { type: 'object', properties: { format: FORMAT }, required: ['format'] };
/** The result of each tool; the tool `echo` is implemented by the server. */
const RESULTS = {
  empty: { content: [] },
  blank: { content: [{ type: 'text', text: '' }] },
  bare: {},
  typed: { content: [], structuredContent: { ok: true } },
};
const TOOLS = [
  ...Object.keys(RESULTS).map((name) => listed(name)),
  listed('repeat', {
    inputSchema: {
      type: 'object',
      properties: { format: FORMAT, more: NESTED, of: { type: 'string' } },
      required: ['format', 'of'],
    },
  }),
  listed('task', { execution: { taskSupport: 'required' } }),
  listed('perhaps-task', { execution: { taskSupport: 'optional' } }),
];

describe('a server', () => {
  const folder = newFolder();
  const toolsFile = join(folder, 'tools.json');
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    writeFileSync(toolsFile, JSON.stringify([listed('change')]));
    const shapes = scripted('s', { tools: TOOLS, results: RESULTS });
    const changing = scripted('c', { toolsFile });
    const agents = ['s', 'c'].map((name) => ({ name, tools: [`${name}__*`], model: { provider: 'openai' } }));
    jackdaw = await startJackdaw({ llm, options: { mcpServers: [shapes, changing], agents } });
    await Promise.all(['s', 'c'].map((name) => untilStatus(jackdaw, name)));
  });
  afterEach(() => llm.reset());
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
    rmSync(folder, { recursive: true });
  });
  const call = async (tool: string, args: object = {}) =>
    (await callTool(jackdaw, `s__${tool}`, { arguments: { ...args } })).body;

  it.each(['empty', 'blank', 'bare'])('with a result without content says so to the model: %s', async (tool) => {
    llm.reply({ calls: [{ id: 'c', name: `s__${tool}`, arguments: {} }] }, { text: 'the end' });
    await jackdaw.chat({ query: 'go', agent: 's' });
    expect(llm.lastRequest.messages.at(-1)).toMatchObject({ role: 'tool', content: '[No output]' });
  });

  it('with structured content only returns it', async () => {
    expect(await call('typed')).toMatchObject({ result: { ok: true } });
  });

  it('may list a property with a default as required: a call without it is valid, and is sent as given', async () => {
    const args = { of: 'page', more: {} };
    expect((await call('repeat', args))['result']).toBe(JSON.stringify(args));
    const refused = await Promise.all([call('repeat', { of: 'page', format: 'gif' }), call('repeat')]);
    expect(refused).toMatchObject([{ code: 'TOOL_INVALID_ARGUMENTS' }, { detail: expect.stringContaining('.of" is') }]);
  });

  it('with a tool that only runs as a task has this tool refused', async () => {
    const { body } = await jackdaw.get('/api/mcp/servers/s');
    expect(body['refused']).toEqual([{ tool: 'task', why: 'it runs only as a task, which Jackdaw does not support' }]);
    expect(body['tools']).toContain('s__perhaps-task');
  });

  it('that reports a change of its tools has the new ones in the next run', async () => {
    llm.reply({ calls: [{ id: 'c', name: 'c__change', arguments: {} }] }, { text: 'changed' }, { text: 'the end' });
    writeFileSync(toolsFile, JSON.stringify([listed('change'), listed('echo')]));
    await jackdaw.chat({ query: 'go', agent: 'c' });
    await jackdaw.chat({ query: 'again', agent: 'c' });
    const names = llm.requests.map(({ tools = [] }) => tools.map(({ function: { name } }) => name));
    expect(names).toEqual([['c__change'], ['c__change'], ['c__change', 'c__echo']]);
  });
});
