import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ToolRegistry } from '../src/tool/index.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeCall } from './support/fake-llm.types.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { listed, scripted, untilStatus } from './support/mcp/scripted-servers.js';
import { PolicyTools } from './support/policy.tool.js';
import { decisionsIn, resultsIn, WaitingRun } from './support/waiting-run.js';

const ECHO = { inputSchema: { type: 'object', properties: { text: { type: 'string' } } } };
const TOOLS = [
  listed('echo', ECHO),
  listed('pid', { annotations: { readOnlyHint: true } }),
  listed('count', { annotations: { readOnlyHint: true, openWorldHint: true } }),
  listed('fail'),
  // A tool that the server itself does not know: its error text comes with the JSON-RPC code.
  listed('missing'),
];
const SERVERS = [
  scripted('plain', { tools: TOOLS }),
  scripted('trusted', { tools: TOOLS }, { trusted: true }),
  scripted('inner', { tools: TOOLS }, { egress: false }),
  scripted('outer', { tools: TOOLS }, { trusted: true, egress: true }),
  scripted('own', { tools: TOOLS }, { untrusted: false }),
  scripted('asking', { tools: TOOLS }, { approval: 'always' }),
];

describe('a run that has read text of an MCP server', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  const tools = new PolicyTools();
  let calls = 0;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({ llm, tools: [tools], options: { mcpServers: SERVERS } });
    await Promise.all(SERVERS.map(({ name }) => untilStatus(jackdaw, name)));
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  const call = (name: string): FakeCall => ({
    id: `${name}.${++calls}`,
    name,
    arguments: name === 'send_mail' ? { to: 'bob' } : {},
  });

  /** A run in which the model makes these calls, one after the other. */
  async function play(...names: string[]) {
    llm.reset();
    llm.reply(...names.map((name) => ({ calls: [call(name)] })), { text: 'the end' });
    const { body } = await jackdaw.chat({ query: 'go' });
    const run = new WaitingRun(jackdaw, String(body['run_id']));
    const events = await run.events();
    return { run, events, status: events.at(-1)!.event.slice('run.'.length) };
  }

  it.each([
    ['plain__echo', 'send_mail', 'waiting'],
    ['trusted__pid', 'send_mail', 'waiting'],
    ['inner__echo', 'send_mail', 'waiting'],
    ['plain__fail', 'send_mail', 'waiting'],
    ['plain__missing', 'send_mail', 'waiting'],
    ['own__echo', 'send_mail', 'completed'],
    ['own__fail', 'send_mail', 'completed'],
  ])('calls %s, then %s, and is %s', async (first, second, status) => {
    const { events, ...played } = await play(first, second);
    expect(played.status).toBe(status);
    const policies = decisionsIn(events).map(({ policy }) => policy);
    expect(policies).toEqual(status === 'waiting' ? ['taint'] : []);
  });

  it.each([
    ['plain__echo', true],
    ['plain__pid', true],
    ['trusted__pid', true],
    ['trusted__count', true],
    ['inner__echo', false],
    ['inner__count', false],
    ['outer__pid', true],
    ['own__echo', true],
  ])('may call %s without approval unless the call is egress: %j', async (name, isEgress) => {
    expect(jackdaw.app.get(ToolRegistry).get(name).metadata.egress).toBe(isEgress);
    const { status } = await play('inner__echo', name);
    expect(status).toBe(isEgress ? 'waiting' : 'completed');
  });

  it('resumes after approval', async () => {
    const { run, events } = await play('plain__pid', 'plain__echo');
    expect(events.at(-1)!.data['requests']).toMatchObject([
      { kind: 'approval', tool: 'plain__echo', reason: expect.stringContaining('has read untrusted content') },
    ]);
    llm.reset();
    llm.reply({ text: 'the end' });
    const after = await run.after('approve');
    expect([after.at(-1)!.event, Object.values(resultsIn(after))]).toEqual(['run.completed', ['undefined']]);
  });

  it('waits for approval at every call of a server if the operator requires it', async () => {
    const { run, events, status } = await play('asking__pid');
    expect([status, events.at(-1)!.data['requests']]).toMatchObject(['waiting', [{ kind: 'approval' }]]);
    llm.reset();
    llm.reply({ text: 'the end' });
    expect(Object.values(resultsIn(await run.after('deny', { reason: 'no' })))).toEqual([
      ['TOOL_DENIED', expect.stringContaining('no')],
    ]);
  });
});
