import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AgentRegistry } from '../src/agent/definition/index.js';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type CheckedCall, ToolRegistry } from '../src/tool/index.js';
import { type PolicyDecision, ToolPolicy, ToolPolicyRegistry } from '../src/tool/decision/index.js';
import { Tool, type ToolContext } from '../src/tool/method/index.js';
import { ask, callsThen, AgentTree, questionIn, resultsShown, type Voice } from './support/run-tree.js';
import type { FakeCall } from './support/fake-llm.types.js';
import { gate } from './support/jackdaw.js';

/** Records each effect. */
class Till {
  readonly charged: string[] = [];
  readonly saved: string[] = [];

  @Tool({ description: 'Charges the guest.', input: { type: 'object', properties: { by: { type: 'string' } } } })
  charge({ by }: { by: string }): string {
    this.charged.push(by);
    return 'charged';
  }

  @Tool({ description: 'Saves a note.' })
  save(): string {
    this.saved.push('note');
    return 'saved';
  }
}

/** Opens as soon as the model of the agent "ship" is asked. */
const shipAsked = gate();

/** Rules about the hand-off to billing: one agent needs approval, another one is denied. */
class BillingPolicy extends ToolPolicy {
  readonly name = 'billing';

  async decide({ tool }: CheckedCall, { agent }: ToolContext): Promise<PolicyDecision> {
    if (tool.definition.name !== 'transfer_to_bill') return 'allow';
    if (agent === 'ending') await shipAsked.opened;
    if (agent === 'refused' || agent === 'ending') return { deny: 'Not for this guest.' };
    return agent === 'asking' ? { approve: 'A person must see it.' } : 'allow';
  }
}

@Injectable()
class BillingRules implements OnModuleInit {
  constructor(private readonly policies: ToolPolicyRegistry) {}

  onModuleInit(): void {
    this.policies.register(new BillingPolicy());
  }
}

const to = (agent: string, args: object | string = {}): FakeCall => ({
  name: `transfer_to_${agent}`,
  arguments: args as Record<string, unknown>,
});
const save: FakeCall = { name: 'save', arguments: {} };
const NOT_EXECUTED = /^Not executed, because one reply can hand the conversation over only once/;

describe('a reply with several hand-offs', () => {
  const till = new Till();
  let tree: AgentTree;
  beforeAll(async () => {
    tree = await AgentTree.begin(
      {
        desk: { handoffs: ['bill', 'ship'], subAgents: ['bill'], tools: ['save'] },
        guarded: { handoffs: ['bill', 'ship'], guardrails: { tools: [{ deny: ['transfer_to_bill'] }] } },
        asking: { handoffs: ['bill', 'ship'] },
        refused: { handoffs: ['bill', 'ship'] },
        ending: { handoffs: ['bill'], subAgents: ['ship'], waiting: { onDenied: 'end' } },
        bill: { tools: ['charge'] },
        ship: { tools: ['charge'] },
      },
      { more: [till, BillingRules] },
    );
  });
  beforeEach(() => {
    till.charged.length = 0;
    till.saved.length = 0;
  });
  afterAll(() => tree.stop());

  const charging = (by: string) => callsThen([{ name: 'charge', arguments: { by } }], () => `I am ${by}`);
  const say = (calls: readonly FakeCall[], agent = 'desk', then?: (results: unknown[]) => string) =>
    tree.say({ [agent]: callsThen(calls, then), bill: charging('bill'), ship: charging('ship') });

  it.each<[string, FakeCall[], string[], string, number]>([
    ['to two agents', [to('bill'), to('ship')], ['bill'], 'bill', 0],
    ['to two agents in the other order', [to('ship'), to('bill')], ['ship'], 'ship', 0],
    ['to the same agent', [to('bill'), to('bill')], ['bill'], 'bill', 0],
    ['beside another tool', [to('bill'), save, to('ship')], ['bill'], 'bill', 1],
    ['beside a question', [ask('bill', 'x'), to('bill'), to('ship')], ['bill', 'bill'], 'bill', 0],
    ['with invalid arguments first', [to('bill', { now: true }), to('ship')], ['ship'], 'ship', 0],
    ['with broken arguments first', [to('bill', '{"'), to('ship'), to('bill')], ['ship'], 'ship', 0],
    ['three times', [to('ship'), to('bill'), to('ship')], ['ship'], 'ship', 0],
  ])('executes one hand-off: %s', async (name, calls, charged, by, saved) => {
    say(calls);
    const sessionId = `one-${name.replaceAll(' ', '-')}`;
    const { status, body } = await tree.jackdaw.chat({ query: 'pay', sessionId });
    expect([status, body]).toMatchObject([200, { result: `I am ${by}`, answered_by: { agent: by } }]);
    expect(till.charged).toEqual(charged);
    expect(till.saved).toHaveLength(saved);
    const run = await tree.run(String(body['run_id']));
    const results = run['tool_results'] as unknown as { tool: string; success: boolean; error?: string }[];
    const handoffs = results.filter(({ tool }) => tool.startsWith('transfer_to_'));
    expect(handoffs.filter(({ success }) => success)).toHaveLength(1);
    const executed = handoffs.findIndex(({ success }) => success);
    for (const { error } of handoffs.slice(executed + 1)) expect(error).toMatch(NOT_EXECUTED);
    expect(run['child_run_ids']).toHaveLength(charged.length);
    // The next turn has one result for each call.
    tree.say({ desk: () => ({ text: 'yes?' }) });
    expect((await tree.jackdaw.chat({ query: 'and now?', sessionId })).status).toBe(200);
    const { messages } = tree.llm.lastRequest;
    expect(messages.filter(({ role }) => role === 'tool')).toHaveLength(calls.length);
  });

  it.each([
    ['a guardrail', 'guarded'],
    ['a policy', 'refused'],
  ])('executes the next hand-off when %s denies the first one', async (_what, agent) => {
    say([to('bill'), to('ship'), to('ship')], agent);
    const { body } = await tree.jackdaw.chat({ query: 'pay', agent });
    expect([body['result'], till.charged]).toEqual(['I am ship', ['ship']]);
  });

  it.each([
    ['approve', {}, 'I am bill', ['bill']],
    ['deny', { reason: 'no' }, 'heard', []],
  ])('keeps the choice while the chosen hand-off waits for approval: %s', async (verb, body, result, charged) => {
    say([to('bill'), to('ship')], 'asking', () => 'heard');
    const waiting = await tree.jackdaw.chat({ query: 'pay', agent: 'asking' });
    expect([waiting.status, waiting.body['waiting']]).toMatchObject([202, [{ tool: 'transfer_to_bill' }]]);
    expect(till.charged).toEqual([]);
    const runId = String(waiting.body['run_id']);
    await tree.restart();
    say([to('bill'), to('ship')], 'asking', () => 'heard');
    await tree.jackdaw.post(`/api/runs/${runId}/${verb}`, body);
    expect((await tree.untilEnd(runId)).at(-1)).toMatchObject({ data: { result } });
    expect(till.charged).toEqual(charged);
  });

  it('cancels the other runs of the reply when a denied hand-off ends the run', async () => {
    tree.say({
      ending: callsThen([ask('ship', 'x'), to('bill')]),
      ship: () => (shipAsked.open(), { hang: true }),
    });
    const { status, body } = await tree.jackdaw.chat({ query: 'pay', agent: 'ending' });
    expect([status, body['code']]).toEqual([403, 'TOOL_DENIED']);
    const run = await tree.run(String(body['run_id']));
    const [id, ...others] = run['child_run_ids'] as unknown as string[];
    expect([others, await tree.run(id!)]).toMatchObject([[], { status: 'cancelled' }]);
  });

  it('lets a later reply repeat a hand-off that was not executed, without a reminder of a failure', async () => {
    const texts: unknown[] = [];
    tree.say({
      desk: (request) => {
        const results = resultsShown(request);
        texts.push(...results.slice(texts.length));
        if (results.length === 0) return { calls: [to('bill'), to('ship')] };
        return results.length === 2 ? { calls: [to('ship')] } : { text: 'gone' };
      },
      bill: () => ({ status: 400, body: {} }),
      ship: charging('ship'),
    });
    const { body } = await tree.jackdaw.chat({ query: 'pay' });
    expect([body['result'], till.charged]).toEqual(['I am ship', ['ship']]);
    expect(texts).toEqual([
      expect.stringMatching(/"bill" failed/),
      expect.stringMatching(/^Error: Not executed, because/),
    ]);
  });
});

/** A second tool that asks the same agent. */
@Injectable()
class Consulting implements OnModuleInit {
  constructor(
    private readonly tools: ToolRegistry,
    private readonly agents: AgentRegistry,
  ) {}

  onModuleInit(): void {
    this.tools.register(this.agents.asTool('kid', { name: 'consult' }));
  }
}

describe('a reply with several questions to one agent', () => {
  let tree: AgentTree;
  beforeAll(async () => {
    tree = await AgentTree.begin(
      { boss: { subAgents: ['kid', 'aunt'], tools: ['consult'] }, kid: {}, aunt: {} },
      { more: [Consulting] },
    );
  });
  afterAll(() => tree.stop());

  const PLACES = 8;
  const questions = Array.from({ length: 12 }, (_, i) => `q${i}`);

  /** Asks in one turn. @returns the texts in each question's request, except the instructions */
  async function turn(sessionId: string, calls: readonly FakeCall[], answering?: Answering) {
    const seen = new Map<string, unknown[]>();
    const answer: Voice = async (request) => {
      const question = String(questionIn(request));
      seen.set(
        question,
        request.messages.slice(1).map(({ content }) => content),
      );
      await answering?.(question, seen.size);
      return { text: `a of ${question}` };
    };
    tree.say({ boss: callsThen(calls, () => 'done'), kid: answer, aunt: answer });
    const { body } = await tree.jackdaw.chat({ query: 'go', sessionId });
    expect(body['result']).toBe('done');
    return Object.fromEntries(seen);
  }

  type Answering = (question: string, asked: number) => Promise<void>;

  /** Answers the first eight from the last to the first. */
  function backwards(): Answering {
    const gates = new Map(questions.map((question) => [question, gate()]));
    return async (question, asked) => {
      if (asked > PLACES) return;
      if (asked === PLACES) gates.get(questions[PLACES - 1]!)!.open();
      await gates.get(question)!.opened;
      gates.get(questions[questions.indexOf(question) - 1] ?? '')?.open();
    };
  }

  /** Answers the first question, and the others only when the ninth has come in its place. */
  function firstAlone(): Answering {
    const ninth = gate();
    return async (question, asked) => {
      if (asked > PLACES) ninth.open();
      if (question !== questions[0]) await ninth.opened;
    };
  }

  it.each<[string, () => Answering | undefined]>([
    ['in any order', () => undefined],
    ['from the last to the first', backwards],
    ['first the first one', firstAlone],
  ])('sends the same requests, whichever answers come first: %s', async (name, answering) => {
    const sessionId = `kids-${name.replaceAll(' ', '-')}`;
    const asked = questions.map((question) => ask('kid', question));
    expect(await turn(sessionId, asked, answering())).toEqual(
      Object.fromEntries(questions.map((question) => [question, [question]])),
    );
    const later = await turn(sessionId, [ask('kid', 'later 1'), ask('kid', 'later 2')]);
    expect(later).toEqual({ 'later 1': ['q0', 'a of q0', 'later 1'], 'later 2': ['later 2'] });
  });

  it('continues the shared session with the first question by position to each agent, by whatever tool', async () => {
    const consult: FakeCall = { name: 'consult', arguments: { query: 'k1' } };
    await turn('shared', [ask('kid', 'k0'), ask('aunt', 'a0')]);
    expect(await turn('shared', [consult, ask('aunt', 'a1'), ask('kid', 'k2'), ask('aunt', 'a2')])).toEqual({
      k1: ['k0', 'a of k0', 'k1'],
      a1: ['a0', 'a of a0', 'a1'],
      k2: ['k2'],
      a2: ['a2'],
    });
  });

  it('continues it with the first valid question', async () => {
    await turn('valid', [ask('kid', 'k0')]);
    expect(await turn('valid', [ask('kid', ' '), ask('kid', 'k1'), ask('kid', 'k2')])).toEqual({
      k1: ['k0', 'a of k0', 'k1'],
      k2: ['k2'],
    });
  });

  it('continues it in the next reply of the same run', async () => {
    const seen: unknown[][] = [];
    tree.say({
      boss: (request) => {
        const results = resultsShown(request);
        return results.length < 3 ? { calls: [ask('kid', `q${results.length}`)] } : { text: 'done' };
      },
      kid: (request) => {
        seen.push(request.messages.slice(1).map(({ content }) => content));
        return { text: `a of ${String(questionIn(request))}` };
      },
    });
    await tree.jackdaw.chat({ query: 'go', sessionId: 'replies' });
    expect(seen.at(-1)).toEqual(['q0', 'a of q0', 'q1', 'a of q1', 'q2']);
  });
});
