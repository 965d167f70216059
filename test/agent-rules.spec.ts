import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { SecurityPolicies } from '../src/tool-policy/index.js';
import type { SseEvent } from './support/event-stream.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { listed, scripted, untilStatus } from './support/mcp/scripted-servers.js';
import { PolicyTools } from './support/policy.tool.js';
import { callOf, decisionsIn, resultsIn, WaitingRun } from './support/waiting-run.js';

Logger.overrideLogger(false);

const CARD = '4111 1111 1111 1111';
const MODEL = { provider: 'openai' };
const tools = new PolicyTools();

let llm: FakeLlm;
let jackdaw: Jackdaw;
beforeAll(async () => {
  llm = await FakeLlm.start();
  const script = { tools: [listed('echo')] };
  jackdaw = await startJackdaw({
    llm,
    tools: [tools],
    options: {
      builtinTools: false,
      mcpServers: [scripted('web', script), scripted('files', script)],
      agents: [
        { name: 'free', model: MODEL, tools: ['repeat', 'send_mail', 'read_page'], subAgents: ['guarded'] },
        {
          name: 'guarded',
          model: MODEL,
          tools: ['repeat', 'send_mail', 'read_page'],
          guardrails: {
            tools: [{ deny: ['read_*'] }],
            arguments: { send_mail: { properties: { to: { pattern: '@acme\\.example$' } } } },
            content: {
              cards: { input: 'mask', results: 'mask', output: 'block' },
              patterns: [{ name: 'order', pattern: 'ORD-\\d{6}', input: 'block' }],
            },
          },
        },
        { name: 'denying', model: MODEL, tools: ['read_page', 'send_mail'], guardrails: { taint: 'deny' } },
        { name: 'asking', model: MODEL, tools: ['repeat', 'value'], approvals: ['rep*'] },
        { name: 'everything', model: MODEL, mcpServers: [{ name: 'web', enabled: false }] },
        { name: 'web', model: MODEL, mcpServers: ['web'] },
        { name: 'some', model: MODEL, tools: ['repeat', '*__echo'], mcpServers: [{ name: 'files', enabled: false }] },
      ],
    },
  });
  await Promise.all(['web', 'files'].map((name) => untilStatus(jackdaw, name)));
});
afterEach(async () => {
  llm.reset();
  tools.done.length = 0;
  await jackdaw.app.get(SecurityPolicies).set();
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

async function ask(agent: string, query = 'go'): Promise<{ body: Record<string, unknown>; events: SseEvent[] }> {
  const { body } = await jackdaw.chat({ query, agent });
  return { body, events: await jackdaw.events(String(body['run_id'])) };
}

const shown = () => llm.lastRequest.tools?.map((tool) => tool.function.name) ?? [];

describe('guardrails', () => {
  it('mask and block content of their agent alone', async () => {
    llm.reply({ calls: [callOf('repeat', { text: CARD })] }).reply({ text: `it is ${CARD}` });
    const { body } = await ask('guarded', `take ${CARD}`);
    expect(llm.requests[0]!.messages.at(-1)?.content).toBe('take [cards]');
    expect(llm.requests[1]!.messages.at(-1)?.content).toBe('[cards]');
    expect(body).toMatchObject({ finish_reason: 'content_filter' });
    expect(String(body['result'])).not.toContain('4111');
    llm.reset();
    llm.reply({ calls: [callOf('repeat', { text: CARD })] }).reply({ text: `it is ${CARD}` });
    expect((await ask('free', `take ${CARD}`)).body).toMatchObject({ result: `it is ${CARD}`, finish_reason: 'stop' });
    expect(llm.requests[1]!.messages.at(-1)?.content).toBe(CARD);
  });

  it('refuse a question with 422 before a model call, also from another agent', async () => {
    const refused = await jackdaw.chat({ query: 'see ORD-123456', agent: 'guarded' });
    expect([refused.status, refused.body['code'], refused.body['found']]).toEqual([422, 'INPUT_BLOCKED', ['order']]);
    llm.reply({ calls: [callOf('ask_guarded', { query: 'see ORD-123456' })] }).reply({ text: 'well' });
    const { events } = await ask('free', 'see ORD-123456');
    expect(JSON.stringify(resultsIn(events))).toMatch(/it holds order/);
    expect(llm.requests).toHaveLength(2);
    llm.reset();
    llm.reply({ calls: [callOf('ask_guarded', { query: `take ${CARD}` })] }).always({ text: 'taken' });
    await ask('free');
    expect(llm.requests[1]!.messages.at(-1)?.content).toBe('take [cards]');
  });

  it('deny tools and arguments, and the run publishes the deciding policy', async () => {
    llm
      .reply({ calls: [callOf('read_page', { text: 'a' }), callOf('send_mail', { to: 'eve@evil.example' })] })
      .reply({ calls: [callOf('send_mail', { to: 'ann@acme.example' })] })
      .reply({ text: 'done' });
    const { events } = await ask('guarded');
    expect(shown()).toEqual(['repeat', 'send_mail']);
    expect(tools.done).toEqual(['mail ann@acme.example']);
    expect(decisionsIn(events).map(({ tool, policy, decision }) => [tool, policy, decision])).toEqual([
      ['read_page', 'tools', 'denied'],
      ['send_mail', 'tools', 'allowed'],
      ['send_mail', 'arguments', 'denied'],
      ['send_mail', 'tools', 'allowed'],
      ['send_mail', 'arguments', 'allowed'],
    ]);
    llm.reset();
    llm.reply({ text: 'hi' });
    await ask('free');
    expect(shown()).toEqual(['repeat', 'send_mail', 'read_page', 'ask_guarded']);
  });

  it('only add to the global policies, also after those change', async () => {
    await jackdaw.app
      .get(SecurityPolicies)
      .set({ tools: [{ deny: ['repeat'] }], content: { emails: { input: 'mask' } } });
    llm.always({ text: 'hi' });
    await ask('guarded', `${CARD} of ann@b.example`);
    expect(shown()).toEqual(['send_mail']);
    expect(llm.lastRequest.messages.at(-1)?.content).toBe('[cards] of [emails]');
    await jackdaw.app.get(SecurityPolicies).set({ rateLimits: [], taint: 'off' });
    llm.reset();
    llm
      .reply({ calls: [callOf('read_page', { text: 'a' })] })
      .reply({ calls: [callOf('send_mail', { to: 'a' })] })
      .reply({ text: 'done' });
    const { events } = await ask('denying');
    expect(decisionsIn(events)).toMatchObject([{ tool: 'send_mail', policy: 'taint', decision: 'denied' }]);
    expect(tools.done).toEqual(['read a']);
  });
});

describe('approvals', () => {
  it('make calls of the named tools wait for a person, for their agent alone', async () => {
    llm.reply({ calls: [callOf('repeat', { text: 'x' }), callOf('value', { a: 1 })] }).reply({ text: 'done' });
    const run = await WaitingRun.begin(jackdaw, 'asking', { agent: 'asking' });
    expect(await run.requests()).toMatchObject([
      { kind: 'approval', tool: 'repeat', reason: 'Every call of this tool by the agent "asking" needs approval.' },
    ]);
    expect(tools.done).toEqual([]);
    const events = await run.after('approve');
    expect([tools.done, events.at(-1)?.event]).toEqual([['repeat x'], 'run.completed']);
    llm.reset();
    llm.reply({ calls: [callOf('repeat', { text: 'y' })] }).reply({ text: 'done' });
    expect((await ask('free')).body).toMatchObject({ result: 'done', finish_reason: 'stop' });
  });
});

describe('MCP servers of an agent', () => {
  it.each([
    ['everything', ['repeat', 'value', 'read_page', 'send_mail', 'fail', 'files__echo']],
    ['web', ['web__echo']],
    ['some', ['repeat', 'web__echo']],
  ])('are those that the agent names: %s', async (agent, names) => {
    llm.reply({ text: 'hi' });
    await ask(agent);
    expect(shown()).toEqual(names);
    expect((await jackdaw.get(`/api/agents/${agent}`)).body['tools']).toEqual(names);
  });

  it('are listed by the API', async () => {
    const { body } = await jackdaw.get('/api/agents/everything');
    expect(body).toMatchObject({ mcp_servers: [{ name: 'web', enabled: false }], approvals: [] });
    expect((await jackdaw.get('/api/agents/guarded')).body['guardrails']).toMatchObject({
      tools: [{ deny: ['read_*'] }],
    });
  });

  it('cannot be added by a fork that selects tools', async () => {
    llm.always({ text: 'hi' });
    const { body } = await ask('some');
    const fork = (names: string[]) =>
      jackdaw.post(`/api/runs/${String(body['run_id'])}/fork`, {
        fromStep: 'model:1',
        edit: { agent: { tools: names } },
      });
    expect((await fork(['files__echo'])).status).toBe(400);
    expect((await fork(['web__echo'])).status).toBe(202);
    await llm.waitForRequest();
  });
});
