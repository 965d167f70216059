import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createAgent } from '../src/index.js';
import { SecurityPolicies, type SecurityPolicy } from '../src/tool-policy/index.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeCall } from './support/fake-llm.types.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { calls as callsOf, says, ScriptedChatModel } from './support/scripted-chat-model.js';
import { PolicyTools } from './support/policy.tool.js';
import { callOf, decisionsIn, resultsIn, WaitingRun } from './support/waiting-run.js';

const repeat = (text: string) => callOf('repeat', { text });
const mail = (to: string) => callOf('send_mail', { to });
const readPage = (text: string) => callOf('read_page', { text });
/** A policy without the default rate limit. */
const NO_LIMITS: SecurityPolicy = { rateLimits: [] };

let llm: FakeLlm;
let tools: PolicyTools;
let jackdaw: Jackdaw;
let sessions = 0;

beforeAll(async () => {
  llm = await FakeLlm.start();
  tools = new PolicyTools();
  const agents = ['default', 'support'].map((name) => ({ name, model: { provider: 'openai' } }));
  jackdaw = await startJackdaw({ llm, tools: [tools], options: { agents, builtinTools: false } });
});
afterEach(async () => {
  llm.reset();
  tools.done.length = 0;
  await rule({});
  await jackdaw.app.get(SecurityPolicies).set();
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

function rule(policy: SecurityPolicy): Promise<void> {
  return jackdaw.app.get(SecurityPolicies).set({ ...NO_LIMITS, ...policy });
}

/** A run whose model makes these calls, one reply after the other, and then answers "the end". */
async function play(replies: readonly (readonly FakeCall[])[], asked: object = {}) {
  llm.reply(...replies.map((calls) => ({ calls })), { text: 'the end' });
  const { status, body } = await jackdaw.chat({ query: 'go', sessionId: `s${++sessions}`, ...asked });
  const run = new WaitingRun(jackdaw, String(body['run_id']));
  const events = await run.events();
  return { status, body, run, events, decisions: decisionsIn(events), results: resultsIn(events) };
}

const toolsShown = () => llm.requests[0]!.tools!.map((tool) => tool.function.name);

describe('an agent without a policy', () => {
  it('decides nothing, and publishes no decision', async () => {
    const { decisions, events } = await play([[repeat('a'), mail('bob')]]);
    expect([decisions, tools.done]).toEqual([[], ['repeat a', 'mail bob']]);
    expect(events.map(({ data }) => data['step'] ?? '')).not.toContain('policy:1:1');
  });
});

describe('lists of tools', () => {
  it('hide a denied tool from the model, and refuse a call of it all the same', async () => {
    await rule({ tools: [{ deny: ['send_*', 'fail'] }] });
    const { decisions, results } = await play([[mail('bob'), repeat('a')]]);
    expect(toolsShown()).toEqual(['repeat', 'value', 'read_page']);
    expect(tools.done).toEqual(['repeat a']);
    expect(results['bob']).toEqual(['TOOL_DENIED', expect.stringMatching(/denies the tool "send_mail"/)]);
    expect(decisions).toMatchObject([
      { policy: 'tools', on: 'call', decision: 'denied', call_id: 'bob', tool: 'send_mail', iteration: 1 },
      { policy: 'tools', on: 'call', decision: 'allowed', call_id: 'a', tool: 'repeat' },
    ]);
  });

  it('admit only tools that every applicable list allows, and a denial wins', async () => {
    await rule({ tools: [{ allow: ['*'] }, { allow: ['repeat', 'send_*'] }, { deny: ['send_mail'] }] });
    const { results } = await play([[repeat('a'), mail('bob'), readPage('x')]]);
    expect(toolsShown()).toEqual(['repeat']);
    expect(Object.keys(results)).toEqual(expect.arrayContaining(['a', 'bob', 'x']));
    expect(tools.done).toEqual(['repeat a']);
  });

  it.each<[string, SecurityPolicy['tools'], string, boolean]>([
    ['of this agent', [{ agents: ['supp*'], deny: ['repeat'] }], 'support', false],
    ['of another agent', [{ agents: ['supp*'], deny: ['repeat'] }], 'default', true],
    ['of this tenant', [{ tenants: ['default'], deny: ['repeat'] }], 'default', false],
    ['of another tenant', [{ tenants: ['acme'], deny: ['repeat'] }], 'default', true],
    ['of this principal', [{ principals: ['local'], deny: ['repeat'] }], 'default', false],
    ['of another principal', [{ principals: ['ann'], deny: ['repeat'] }], 'default', true],
    ['of a role of the principal', [{ roles: ['boss', 'admin'], deny: ['repeat'] }], 'default', false],
    ['of another role', [{ roles: ['boss'], deny: ['repeat'] }], 'default', true],
    ['of both', [{ roles: ['admin'], agents: ['support'], deny: ['repeat'] }], 'default', true],
  ])('apply to their scope only: %s', async (_case, lists, agent, isCalled) => {
    await rule({ tools: lists! });
    await play([[repeat('a')]], { agent });
    expect(tools.done).toEqual(isCalled ? ['repeat a'] : []);
    expect(toolsShown().includes('repeat')).toBe(isCalled);
  });

  it('refuse a request that forces a denied tool', async () => {
    await rule({ tools: [{ deny: ['repeat'] }] });
    const { status, body } = await jackdaw.chat({ query: 'go', toolChoice: 'repeat' });
    expect([status, body['code']]).toEqual([400, 'VALIDATION_FAILED']);
  });
});

describe('checks of arguments', () => {
  const inside = { properties: { to: { pattern: '@acme\\.example$' } } };

  it('deny a call by a JSON Schema or a function, with the reason', async () => {
    await rule({ arguments: { 'send_*': inside, repeat: ({ text }) => text !== 'b' || 'not b', fail: () => false } });
    const calls = [mail('eve@evil.example'), mail('ann@acme.example'), repeat('b'), callOf('fail', { text: 'x' })];
    const { results, decisions } = await play([calls]);
    expect(tools.done).toEqual(['mail ann@acme.example']);
    expect(results['eve@evil.example']).toEqual(['TOOL_DENIED', expect.stringMatching(/arguments\.to/)]);
    expect([results['b'], results['x']]).toEqual([
      ['TOOL_DENIED', 'Denied: the security policy does not allow these arguments: not b'],
      ['TOOL_DENIED', 'Denied: the security policy does not allow these arguments'],
    ]);
    // A thread checks the pattern, so the decisions of the functions can be earlier.
    expect(decisions.map(({ policy, decision }) => [policy, decision].join(' ')).toSorted()).toEqual([
      'arguments allowed',
      'arguments denied',
      'arguments denied',
      'arguments denied',
    ]);
  });

  it('deny when a function throws, and also check arguments that a person has edited', async () => {
    await rule({
      taint: 'approval',
      arguments: { send_mail: inside, repeat: () => Promise.reject(new Error('broken')) },
    });
    const { run, results } = await play([[readPage('x'), repeat('a')], [mail('ann@acme.example')]]);
    expect(results['a']).toEqual(['TOOL_DENIED', expect.stringMatching(/could not decide/)]);
    const { status, body } = await run.decide('approve', { arguments: { to: 'eve@evil.example' } });
    expect([status, body['code']]).toEqual([403, 'FORBIDDEN']);
    await run.after('deny');
    expect(tools.done).toEqual(['read x']);
  });
});

describe('limits of calls', () => {
  const limit = (per: 'tool' | 'tenant' | 'session', calls: number, more: object = {}) => ({
    rateLimits: [{ per, calls, ...more }],
  });

  it('admit the limit of parallel calls; the model reads when the limit resets', async () => {
    await rule(limit('session', 3, { windowSeconds: 60 }));
    const { results, decisions } = await play([['a', 'b', 'c', 'd', 'e'].map(repeat)]);
    const limited = Object.values(results).filter((one) => Array.isArray(one));
    expect([tools.done.length, limited.length]).toEqual([3, 2]);
    const until = /3 calls in 60 s in this session are the limit.*until (\S+Z)\./;
    expect(limited[0]).toEqual(['TOOL_RATE_LIMITED', expect.stringMatching(until)]);
    const resetsAt = Date.parse(until.exec(String((limited[0] as string[])[1]))![1]!);
    expect(Math.abs(resetsAt - Date.now() - 60_000)).toBeLessThan(20_000);
    const said = decisions.map(({ decision }) => String(decision));
    expect([said.length, said.filter((one) => one === 'allowed').length]).toEqual([5, 3]);
    expect(decisions.find(({ decision }) => decision === 'limited')).toMatchObject({
      policy: 'rate-limit',
      resets_at: expect.any(Number),
    });
  });

  it('count each tool by itself, the tenant together, or a session together', async () => {
    await rule(limit('tool', 1, { tools: ['repeat', 'send_mail'], windowSeconds: 61 }));
    await play([[repeat('a'), mail('b'), repeat('c')]]);
    expect(tools.done).toEqual(['repeat a', 'mail b']);
    await rule(limit('tenant', 2, { windowSeconds: 62 }));
    await play([[repeat('d'), mail('e'), repeat('f')]]);
    await rule(limit('session', 1, { windowSeconds: 63 }));
    await play([[repeat('g')]]);
    await play([[repeat('h')]]);
    expect(tools.done.slice(2)).toEqual(['repeat d', 'mail e', 'repeat g', 'repeat h']);
  });

  it('are 100 calls an hour for each tool by default once there is a policy, and 0 is unlimited', async () => {
    const many = (from: number) => Array.from({ length: 101 }, (_, n) => callOf('repeat', { text: String(from + n) }));
    await jackdaw.app.get(SecurityPolicies).set({ taint: 'off' });
    expect((await play([many(0)])).decisions.filter(({ decision }) => decision === 'limited')).toHaveLength(1);
    expect(tools.done).toHaveLength(100);
    await rule(limit('tool', 0));
    expect((await play([many(1000)])).decisions).toEqual([]);
    expect(tools.done).toHaveLength(201);
  });

  it('count an approved call once, when it is made, and a denied call not at all', async () => {
    await rule({ ...limit('session', 1, { windowSeconds: 64, tools: ['send_mail'] }), taint: 'approval' });
    const { run } = await play([[readPage('x')], [mail('a'), mail('b')]]);
    await run.after('deny', { callId: 'a' });
    llm.reply({ text: 'the end' });
    const events = await run.after('approve', { callId: 'b' });
    expect([tools.done, resultsIn(events)]).toEqual([['read x', 'mail b'], { b: 'sent' }]);
  });
});

describe('an agent without HTTP', () => {
  it('has the policy that it was created with, or the one that is set later', async () => {
    const model = new ScriptedChatModel(
      ['a', 'b', 'c'].flatMap((text) => [callsOf(['repeat', { text }]), says('the end')]),
    );
    const agent = await createAgent({
      chatModel: model,
      tools: [tools],
      config: { DATABASE_URL: 'sqlite::memory:' },
      securityPolicy: { tools: [{ deny: ['repeat'] }], content: { cards: { input: 'block' } } },
    });
    await agent.chat('go');
    await expect(agent.chat('4111 1111 1111 1111')).rejects.toMatchObject({ code: 'INPUT_BLOCKED' });
    await agent.setSecurityPolicy({ arguments: { repeat: ({ text }) => text !== 'b' } });
    await agent.chat('go');
    await agent.chat('go');
    await expect(agent.setSecurityPolicy({ taint: 'what' as never })).rejects.toThrow(/taint/);
    await agent.close();
    expect(tools.done).toEqual(['repeat c']);
  });

  it('is refused with an invalid policy, and the error names all mistakes', async () => {
    const wrong = { tools: [{}], rateLimits: [{ per: 'planet' }] } as unknown as SecurityPolicy;
    const made = createAgent({ config: { DATABASE_URL: 'sqlite::memory:' }, securityPolicy: wrong });
    await expect(made).rejects.toThrow(/has 2 mistakes:\n {2}tools\.0: .*\n {2}rateLimits\.0\.per: /);
  });
});
