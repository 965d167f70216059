import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { callTool } from './support/direct-calls.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { listed, scripted } from './support/mcp/scripted-servers.js';

const ECHO = listed('echo', { inputSchema: { type: 'object', properties: { text: { type: 'string' } } } });
/** An agent that has no other tools. */
const ONLY = { name: 'only', tools: ['s__*'], model: { provider: 'openai' } };
const DEAD = { name: 'dead', enabled: true, type: 'stdio', stdio: { command: '/no/such/program' } } as const;

describe('a run that starts while MCP servers are being connected', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw | undefined;
  let folder: string;
  beforeAll(async () => {
    llm = await FakeLlm.start();
  });
  afterEach(async () => {
    await jackdaw?.stop();
    jackdaw = undefined;
    llm.reset();
    rmSync(folder, { recursive: true });
  });
  afterAll(() => llm.close());

  async function start(): Promise<Jackdaw> {
    const mcpServers = [scripted('s', { tools: [ECHO] }), DEAD, scripted('off', { tools: [ECHO] }, { enabled: false })];
    jackdaw = await startJackdaw({ llm, dataDir: folder, options: { mcpServers, agents: [ONLY] } });
    return jackdaw;
  }
  const call = { calls: [{ id: 'c', name: 's__echo', arguments: { text: 'hi' } }] };

  it('has their tools', async () => {
    folder = newFolder();
    llm.reply(call, { text: 'the end' });
    const { body } = await (await start()).chat({ query: 'go', includeDetails: true });
    expect(body['tool_results']).toMatchObject([{ tool: 's__echo', success: true, result: 'hi' }]);
  });

  it.each([{ name: 's__echo' }, 'required'])('accepts a tool choice among them: %j', async (toolChoice) => {
    folder = newFolder();
    llm.reply(call, { text: 'the end' });
    const asked = { query: 'go', agent: 'only', includeDetails: true, toolChoice };
    const { status, body } = await (await start()).chat(asked);
    expect([status, body['tool_results']]).toMatchObject([200, [{ tool: 's__echo', result: 'hi' }]]);
  });

  it('waits for a tool that is called directly and still loading', async () => {
    folder = newFolder();
    const { body } = await callTool(await start(), 's__echo', { arguments: { text: 'hi' } });
    expect(body).toMatchObject({ result: 'hi' });
  });

  it('has them when it resumes after a restart, too', async () => {
    folder = newFolder();
    llm.reply({ hang: true });
    const before = await start();
    const { body } = await before.post('/api/agent/runs', { query: 'go' });
    await llm.waitForRequest();
    await before.stop();
    llm.reply(call, { text: 'the end' });
    const events = await (await start()).events(String(body['run_id']));
    expect(events.map(({ event }) => event)).toContain('tool.completed');
    expect(llm.requests[1]!.tools!.map(({ function: { name } }) => name)).toContain('s__echo');
    expect(events.at(-1)!.event).toBe('run.completed');
  });
});
