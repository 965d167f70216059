import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SecurityPolicies, type SecurityPolicy } from '../src/tool-policy/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { call, Forks } from './support/forks.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { PolicyTools } from './support/policy.tool.js';
import { decisionsIn } from './support/waiting-run.js';

const CARD = '4111 1111 1111 1111';

let llm: FakeLlm;
let jackdaw: Jackdaw;
let count = 0;

beforeAll(async () => {
  llm = await FakeLlm.start();
  const model = { provider: 'openai', name: 'gpt-4o' };
  const agents = [
    { name: 'default', model },
    { name: 'careful', model, guardrails: { content: { cards: { input: 'block' as const } } } },
  ];
  const workflows = [
    {
      name: 'flow',
      nodes: [
        { id: 'give', type: 'tool' as const, tool: 'value', arguments: { n: 1 } },
        { id: 'ask', type: 'agent' as const, agent: 'default', message: 'Got {{give.result}}', after: ['give'] },
      ],
    },
  ];
  jackdaw = await startJackdaw({
    llm,
    tools: [new PolicyTools()],
    options: { agents, workflows, builtinTools: false },
  });
});
afterEach(() => llm.reset());
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

const rule = (content: SecurityPolicy['content']) =>
  jackdaw.app.get(SecurityPolicies).set({ rateLimits: [], ...(content && { content }) });

/** What models received since the last reset. */
const sent = () => JSON.stringify(llm.requests);

const format = (description: string) => ({
  schema: { type: 'object', properties: { a: { type: 'string', description } }, required: ['a'] },
});

describe.each([
  ['responseFormat', { responseFormat: format(`a card such as ${CARD}`) }],
  ['a name in responseFormat', { responseFormat: { schema: { type: 'object', properties: { [CARD]: {} } } } }],
  ['parameters.stop', { parameters: { stop: ['END', CARD] } }],
])('the content filter and %s', (_what, more) => {
  it('masks it before a model receives it, and the run reports that', async () => {
    await rule({ cards: { input: 'mask' } });
    llm.reply({ text: '{"a":"x"}' });
    const { status, body } = await jackdaw.chat({ query: 'go', sessionId: `s${++count}`, ...more });
    expect(status).toBe(200);
    expect([sent().includes('[cards]'), sent().includes(CARD)]).toEqual([true, false]);
    expect(decisionsIn(await jackdaw.events(String(body['run_id'])))).toMatchObject([
      { policy: 'content', on: 'input', decision: 'masked', found: ['cards'] },
    ]);
  });

  it.each([
    ['the policy', {}],
    ['the agent’s guardrails', { agent: 'careful' }],
  ])('blocks it by %s', async (by, agent) => {
    await rule(by === 'the policy' ? { cards: { input: 'block' } } : {});
    const { status, body } = await jackdaw.post('/api/agent/runs', { query: 'go', ...more, ...agent });
    expect([status, body['code'], body['found']]).toEqual([422, 'INPUT_BLOCKED', ['cards']]);
    expect(llm.requests).toEqual([]);
  });
});

const about = { id: 'x', owner: 'x', created_at: 1, updated_at: 1, metadata: { note: CARD } };
const turnOf = (...messages: object[]) => [{ run_id: `r${++count}`, status: 'completed', created_at: 1, messages }];
const image = { type: 'image', url: `https://pictures.example/${CARD.replaceAll(' ', '')}.png` };
const user = (content: unknown) => ({ role: 'user', content });
const reply = (more: object) => ({ role: 'assistant', content: 'ok', ...more });
const result = (more: object) => ({ role: 'tool', tool_call_id: 'c', name: 'value', content: 'ok', ...more });
const called = (more: object) => reply({ tool_calls: [{ id: 'c', name: 'value', arguments: '{}', ...more }] });

describe('the content filter and an import', () => {
  const load = (turns: object[]) =>
    jackdaw.post('/api/sessions/import', { id: `i${++count}`, session: { version: 1, session: about, turns } });
  /** Imports turns and asks in the session. */
  const receive = async (turns: object[]): Promise<string> => {
    const { status, body } = await load(turns);
    expect(status).toBe(201);
    llm.reply({ text: 'fine' });
    expect((await jackdaw.chat({ query: 'go', sessionId: body['id'] })).status).toBe(200);
    return sent();
  };

  it.each<[string, object[]]>([
    ['a question', turnOf(user(CARD), reply({}))],
    ['a part of a question', turnOf(user([{ type: 'text', text: CARD }]), reply({}))],
    ['an answer', turnOf(user('x'), reply({ content: CARD }))],
    ['arguments', turnOf(user('x'), called({ arguments: JSON.stringify({ card: CARD }) }), result({}), reply({}))],
    ['a tool result', turnOf(user('x'), called({}), result({ content: JSON.stringify([CARD]) }), reply({}))],
    ['a system message', turnOf({ role: 'system', content: CARD }, user('x'), reply({}))],
  ])('mask or block %s', async (_what, turns) => {
    await rule({ cards: { input: 'mask' } });
    const received = await receive(turns);
    expect([received.includes('[cards]'), received.includes('4111')]).toEqual([true, false]);
    await rule({ cards: { input: 'block' } });
    const { status, body } = await load(turns);
    expect([status, body['code'], body['found']]).toEqual([422, 'INPUT_BLOCKED', ['cards']]);
    expect(body['detail']).toMatch(/import \(session\.turns\.0\.messages\.\d\).*holds cards/);
  });

  it('apply the rules for results to a tool result, too', async () => {
    await rule({ cards: { results: 'mask' } });
    const received = await receive(turnOf(user('x'), called({}), result({ content: CARD }), reply({})));
    expect(received).toContain('[cards]');
    const { body } = await load(turnOf(user(CARD), reply({})));
    expect(body['message_count']).toBe(2);
  });

  it('refuse a finding in the id or the name of a call, which cannot be masked', async () => {
    await rule({ cards: { input: 'mask' } });
    for (const more of [{ id: CARD }, { name: CARD }]) {
      const { status, body } = await load(turnOf(user('x'), called(more), result({ tool_call_id: CARD }), reply({})));
      expect([status, body['code']]).toEqual([422, 'INPUT_BLOCKED']);
    }
  });

  it('leave images and metadata unchanged', async () => {
    await rule({ cards: { input: 'block' } });
    expect((await load(turnOf(user([image]), reply({ metadata: { card: CARD } })))).status).toBe(201);
  });

  it('drop signed reasoning with a finding', async () => {
    await rule({ cards: { input: 'mask' } });
    const signed = (text: string) => ({
      signed_reasoning: { provider: 'x', model: 'x', blocks: [{ value: { text }, text: 0, calls: 0 }] },
    });
    const { body } = await load(turnOf(user('x'), reply(signed(CARD)), reply(signed('clean'))));
    const exported = await jackdaw.get(`/api/sessions/${String(body['id'])}/export`);
    const [turn] = exported.body['turns'] as unknown as { messages: object[] }[];
    expect(turn!.messages.map((one) => 'signed_reasoning' in one)).toEqual([false, false, true]);
  });
});

describe('the content filter and the edits of a fork', () => {
  const forks = () => new Forks(jackdaw);
  async function run(agent = 'default'): Promise<string> {
    llm.reset();
    llm.reply({ calls: [call('c', 'value', { n: 1 })] }, { text: 'the end' });
    const { body } = await jackdaw.chat({ query: 'go', sessionId: `s${++count}`, agent });
    llm.reset();
    return String(body['run_id']);
  }

  const edits: [string, string, object][] = [
    ['the message', 'model:1', { message: CARD }],
    ['a tool result', 'tool:1:1', { toolResult: { card: [CARD] } }],
    ['the instructions', 'model:1', { agent: { instructions: `Ask for ${CARD}.` } }],
    ['a stop sequence', 'model:1', { model: { parameters: { stop: [CARD] } } }],
  ];

  it.each(edits)('mask %s', async (_what, step, edit) => {
    await rule({ cards: { input: 'mask' } });
    const runId = await run();
    llm.reply({ text: 'forked' });
    const fork = await forks().make(runId, step, edit);
    expect([sent().includes('[cards]'), sent().includes(CARD)]).toEqual([true, false]);
    expect(decisionsIn(fork.events)).toMatchObject([{ on: 'input', decision: 'masked', found: ['cards'] }]);
    expect(JSON.stringify(await forks().journal(fork.id))).not.toContain(CARD);
  });

  it.each(edits)('block %s, by the policy and by the guardrails of the agent', async (_what, step, edit) => {
    await rule({});
    const careful = await run('careful');
    const other = await run();
    await rule({ cards: { input: 'block' } });
    const answers = [await forks().post(other, { fromStep: step, edit })];
    await rule({});
    answers.push(await forks().post(careful, { fromStep: step, edit }));
    expect(answers.map(({ status, body }) => [status, body['code']])).toEqual(
      answers.map(() => [422, 'INPUT_BLOCKED']),
    );
    expect(llm.requests).toEqual([]);
  });

  it('apply the guardrails of another agent to the question', async () => {
    await rule({});
    llm.reply({ text: 'fine' });
    const { body } = await jackdaw.chat({ query: CARD, sessionId: `s${++count}` });
    const runId = String(body['run_id']);
    const refused = await forks().post(runId, { fromStep: 'model:1', edit: { agent: 'careful' } });
    expect([refused.status, refused.body['code']]).toEqual([422, 'INPUT_BLOCKED']);
  });

  it('apply the rules for results to a tool result', async () => {
    await rule({ cards: { results: 'mask' } });
    const runId = await run();
    llm.reply({ text: 'forked' });
    await forks().make(runId, 'tool:1:1', { toolResult: CARD });
    expect(sent()).toContain('[cards]');
  });

  it('apply to the given output of a node of a workflow', async () => {
    await rule({ cards: { input: 'mask' } });
    llm.reply({ text: 'the end' });
    const { body } = await jackdaw.post('/api/workflows/flow/runs', { input: {}, wait: true });
    expect(body['status']).toBe('completed');
    llm.reset();
    llm.reply({ text: 'forked' });
    const fork = await forks().make(String(body['run_id']), 'node:give', { output: { result: { card: CARD } } });
    expect([sent().includes('[cards]'), sent().includes(CARD)]).toEqual([true, false]);
    expect(decisionsIn(fork.events)).toMatchObject([{ on: 'input', decision: 'masked', found: ['cards'] }]);
    await rule({ cards: { input: 'block' } });
    const blocked = await forks().post(String(body['run_id']), { fromStep: 'node:give', edit: { output: CARD } });
    expect([blocked.status, blocked.body['code']]).toEqual([422, 'INPUT_BLOCKED']);
  });
});
