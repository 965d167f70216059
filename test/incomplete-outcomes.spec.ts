import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AgentNode, LlmNode, MapNode, Tool, ToolNode, WorkflowBuilder, type WorkflowInput } from '../src/index.js';
import { Database } from '../src/persistence/index.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { gate, newFolder } from './support/jackdaw.js';
import { WorkflowWorld } from './support/workflow-world.js';

const MODEL = { provider: 'openai', name: 'gpt-4o' } as const;
const FORMAT = { schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } };
const HALF = 'First pay the bill only if';
const Q = '{{input.q}}';

type Reason = 'length' | 'content_filter' | 'iteration_limit';

/** A model's reply with each finish reason; a run reaches the iteration limit with a tool call per iteration. */
const REPLIES: Readonly<Record<Reason, FakeReply>> = {
  length: { text: HALF, finishReason: 'length' },
  content_filter: { text: '', finishReason: 'content_filter' },
  iteration_limit: { text: HALF, calls: [{ name: 'look', arguments: {} }] },
};

class Effects {
  readonly used: unknown[] = [];

  @Tool({ name: 'look', description: 'Looks.', effect: 'read', input: { type: 'object', properties: {} } })
  look(): string {
    return 'more';
  }

  @Tool({ name: 'use', description: 'Acts.', input: { type: 'object', properties: { v: {} } } })
  use({ v }: { v?: unknown }): string {
    this.used.push(v ?? null);
    return 'used';
  }
}

const USE = (place: string) => new ToolNode('u', 'use', { v: place });

const FLOWS: readonly WorkflowInput[] = [
  new WorkflowBuilder('llm').add(new LlmNode('a', Q)).add(USE('{{a.response}}')).build(),
  new WorkflowBuilder('streams')
    .add(new LlmNode('a', Q).streaming())
    .add(new LlmNode('b', 'beside'))
    .add(USE('{{a.response}}'))
    .build(),
  new WorkflowBuilder('format').add(new LlmNode('a', Q).setResponseFormat(FORMAT)).add(USE('{{a.output}}')).build(),
  new WorkflowBuilder('agent')
    .add(new AgentNode('a', 'kid', Q))
    .add(USE('{{a.response}}'))
    .build(),
  new WorkflowBuilder('inline')
    .add(new AgentNode('a', { model: MODEL, tools: ['look'], limits: { maxIterations: 2 } }, Q))
    .add(USE('{{a.response}}'))
    .build(),
  new WorkflowBuilder('map')
    .add(new MapNode('a', '{{input.list}}', new LlmNode('i', '{{item}}')))
    .add(USE('{{a.results}}'))
    .build(),
  new WorkflowBuilder('agents')
    .add(new MapNode('a', '{{input.list}}', new AgentNode('i', 'kid', '{{item}}')))
    .add(USE('{{a.results}}'))
    .build(),
  new WorkflowBuilder('keep')
    .add(new MapNode('a', '{{input.list}}', new LlmNode('i', '{{item}}')).keepingErrors())
    .add(USE('{{a.results.0.error.code}}'))
    .build(),
  new WorkflowBuilder('retry').add(new LlmNode('a', Q).withRetry(3, 1)).add(USE('{{a.response}}')).build(),
  new WorkflowBuilder('fallback')
    .add(new LlmNode('a', Q).withFallback('b'))
    .add(new LlmNode('b', 'Instead'))
    .add(USE('{{b.response}}'), { after: 'b' })
    .build(),
  new WorkflowBuilder('accept').add(new LlmNode('a', Q).acceptIncomplete()).add(USE('{{a.response}}')).build(),
  new WorkflowBuilder('accept_agent')
    .add(new AgentNode('a', 'kid', Q).acceptIncomplete())
    .add(USE('{{a.response}}'))
    .build(),
  new WorkflowBuilder('accept_map')
    .add(new MapNode('a', '{{input.list}}', new LlmNode('i', '{{item}}').acceptIncomplete()))
    .add(USE('{{a.results.0.response}}'))
    .build(),
];

const AGENTS = [
  { name: 'kid', instructions: 'KID', model: MODEL, tools: ['look'], limits: { maxIterations: 2 } },
  { name: 'asker', instructions: 'ASKER', model: MODEL, tools: [], subAgents: ['kid'] },
  { name: 'giver', instructions: 'GIVER', model: MODEL, tools: [], handoffs: ['kid'] },
];

describe('an incomplete answer', () => {
  const effects = new Effects();
  let world: WorkflowWorld;
  beforeAll(async () => {
    world = await WorkflowWorld.begin(FLOWS, { tools: [effects], options: { agents: AGENTS } });
  });
  afterAll(() => world.stop());
  beforeEach(() => {
    effects.used.length = 0;
    world.say({ ...REPLIES_BY_QUESTION, Instead: 'whole' });
  });

  const FAILING = ['llm', 'streams', 'format', 'agent', 'inline', 'map', 'agents', 'retry'] as const;
  const failing = FAILING.flatMap((flow) => reasonsOf(flow).map((reason) => [flow, reason] as const));
  it.each(failing)('fails the node of the workflow %s by default (%s)', async (flow, reason) => {
    const { body } = await world.run(flow, { q: reason, list: [reason] });
    expect(body).toMatchObject({
      status: 'failed',
      is_complete: false,
      error: { code: 'ANSWER_INCOMPLETE', details: { finish_reason: reason } },
    });
    expect((body['error'] as unknown as { message: string }).message).toContain('onIncomplete');
    expect(effects.used).toEqual([]);
    expect(askedFor(world, reason)).toBe(flow === 'retry' ? 3 : reason === 'iteration_limit' ? 2 : 1);
  });

  it.each([
    ['llm', 'length', '"model.parameters.maxTokens" (1000) of the node'],
    ['agent', 'length', '"model.parameters.maxTokens" of the agent "kid"'],
    ['agent', 'iteration_limit', '"limits.maxIterations" of the agent "kid"'],
    ['inline', 'iteration_limit', '"agent.limits.maxIterations" of the node'],
  ])('names the setting to change (%s, %s)', async (flow, reason, setting) => {
    const { body } = await world.run(flow, { q: reason });
    expect((body['error'] as unknown as { message: string }).message).toContain(setting);
  });

  it('is the error of an item or selects the fallback; both runs are complete', async () => {
    const { body: keeping } = await world.run('keep', { list: ['length', 'fine'] });
    expect(keeping).toMatchObject({ status: 'completed', is_complete: true, finish_reason: 'stop' });
    const { body: fallback } = await world.run('fallback', { q: 'content_filter' });
    expect(fallback).toMatchObject({ status: 'completed', is_complete: true });
    expect(effects.used).toEqual(['ANSWER_INCOMPLETE', 'whole']);
  });

  const ACCEPTING = ['accept', 'accept_agent', 'accept_map'] as const;
  const accepting = ACCEPTING.flatMap((flow) => reasonsOf(flow).map((reason) => [flow, reason] as const));
  it.each(accepting)(
    'is used by the workflow %s, which accepts it, and marks the run as incomplete (%s)',
    async (flow, reason) => {
      const { body } = await world.run(flow, { q: reason, list: [reason, 'fine'] });
      expect(body).toMatchObject({
        status: 'completed',
        is_complete: false,
        finish_reason: reason,
        output: { result: 'used' },
      });
      expect(effects.used).toEqual([reason === 'content_filter' ? '' : HALF]);
      const { body: shown } = await world.jackdaw.get(`/api/runs/${String(body['run_id'])}`);
      expect(shown).toMatchObject({ is_complete: false, finish_reason: reason });
      expect(JSON.stringify(shown['nodes'])).toContain('"is_complete":false');
    },
  );

  it.each(['length', 'content_filter', 'iteration_limit'] as const)(
    'is an error for the calling agent (%s)',
    async (reason) => {
      world.say({ [reason]: byAgent(reason, 'ask_kid', { query: reason }) });
      const { body } = await world.jackdaw.chat({ query: reason, agent: 'asker', includeDetails: true });
      expect(body).toMatchObject({ result: 'end', is_complete: true, tool_results: [{ success: false }] });
      expect(JSON.stringify(body['tool_results'])).toContain(`gave an incomplete answer (${reason})`);
    },
  );

  it.each(['length', 'content_filter', 'iteration_limit'] as const)(
    'marks a run with a handoff as incomplete (%s)',
    async (reason) => {
      world.say({ [reason]: byAgent(reason, 'transfer_to_kid', {}) });
      const { body } = await world.jackdaw.chat({ query: reason, agent: 'giver', includeDetails: true });
      expect(body).toMatchObject({ is_complete: false, finish_reason: reason, answered_by: { agent: 'kid' } });
      expect(JSON.stringify(body['tool_results'])).not.toContain('has answered');
    },
  );
});

describe('a run of version 1 of workflows', () => {
  it('is replayed in the old way: it uses a cut answer and counts as complete', async () => {
    const never = gate();
    const effects = new Effects();
    const start = { tools: [effects], dataDir: newFolder() };
    const flow = new WorkflowBuilder('old')
      .add(new LlmNode('a', 'length'))
      .add(new LlmNode('b', 'next {{a.response}}'))
      .build();
    const world = await WorkflowWorld.begin([flow], start);
    world.say({ length: () => ({ ...REPLIES.length, gate: never.opened }) });
    const { body } = await world.jackdaw.post('/api/workflows/old/runs', { input: {} });
    await world.llm.waitForRequest(1);
    const sql = 'UPDATE run SET loop_version = 1 WHERE id = ?';
    await world.jackdaw.app.get(Database).commit([{ sql, params: [String(body['run_id'])], rows: 1 }]);
    await world.jackdaw.stop();
    never.open();
    world.say({ length: () => REPLIES.length, next: 'end' });
    await world.up();
    const events = await world.jackdaw.events(String(body['run_id']));
    expect(events.at(-1)).toMatchObject({
      event: 'run.completed',
      data: { is_complete: true, output: { response: 'end' } },
    });
    await world.stop();
  });
});

const REPLIES_BY_QUESTION = Object.fromEntries(
  Object.entries(REPLIES).map(([reason, reply]) => [reason, () => reply] as const),
);

/** A node with one model call has no iteration limit. */
function reasonsOf(flow: string): readonly Reason[] {
  const hasIterations = flow === 'agent' || flow === 'agents' || flow === 'inline' || flow === 'accept_agent';
  return hasIterations ? ['length', 'content_filter', 'iteration_limit'] : ['length', 'content_filter'];
}

/** An agent that calls another agent, whose reply has this finish reason, and then answers "end". */
function byAgent(reason: Reason, tool: string, args: object): (request: FakeRequest) => FakeReply {
  return ({ messages }) => {
    if (String(messages[0]?.content).includes('KID')) return REPLIES[reason];
    const hasAsked = messages.some(({ role }) => role === 'tool');
    return hasAsked ? { text: 'end' } : { calls: [{ name: tool, arguments: { ...args } }] };
  };
}

function askedFor(world: WorkflowWorld, question: string): number {
  return world.llm.requests.filter(({ messages }) => messages.some(({ content }) => content === question)).length;
}
