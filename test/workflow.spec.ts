import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  AgentNode,
  BranchNode,
  CodeNode,
  LlmNode,
  ToolNode,
  WorkflowBuilder,
  type WorkflowInput,
} from '../src/index.js';
import { WorkflowWorld } from './support/workflow-world.js';

const TRIAGE = new WorkflowBuilder('triage', { description: 'Who a letter is for' })
  .withInput({ type: 'object', properties: { text: { type: 'string' } }, required: ['text'] })
  .add(new LlmNode('classify', 'Kind of: {{input.text}}').setParameters({ temperature: 0 }))
  .add(
    new BranchNode('route')
      .when({ value: '{{classify.response}}', equals: 'refund' }, 'load')
      .when({ value: '{{classify.response}}', contains: 'praise' }, 'thank')
      .otherwise('hand_on'),
    { after: 'classify' },
  )
  .add(new CodeNode('load', 'load_order', { id: '{{input.order}}' }))
  .add(new CodeNode('total', 'add_up', { prices: '{{load.result.prices}}' }))
  .add(new ToolNode('pay', 'refund', { id: '{{load.result.id}}' }), { after: 'total' })
  .add(new LlmNode('thank', 'Thank for: {{input.text}}'))
  .add(new AgentNode('hand_on', { instructions: 'You are the desk.', tools: [] }, 'Answer: {{input.text}}'))
  .build();

const POEMS: WorkflowInput = {
  name: 'poems',
  nodes: [
    {
      id: 'each',
      type: 'map',
      over: '{{input.topics}}',
      concurrency: 2,
      node: { type: 'llm', prompt: 'Poem {{index}} about {{item}}' },
    },
    { id: 'best', type: 'llm', prompt: 'Best of {{each.results}}' },
  ],
  output: { best: '{{best.response}}', all: '{{each.results}}' },
};

describe('a workflow', () => {
  let world: WorkflowWorld;
  beforeAll(async () => {
    world = await WorkflowWorld.begin([TRIAGE, POEMS]);
  });
  afterAll(() => world.stop());
  beforeEach(() => {
    world.steps.loaded.length = world.steps.refunded.length = 0;
  });

  it('follows the branch of its choice, through code and tools, once each', async () => {
    world.say({ 'Kind of': ' Refund\n' });
    const { status, body } = await world.run('triage', { text: 'broken', order: 'o-1' });
    expect([status, body]).toMatchObject([
      200,
      {
        agent: 'workflow:triage',
        status: 'completed',
        is_complete: true,
        output: { result: 'refunded o-1' },
        usage: { total_tokens: 12 },
        nodes: [
          {
            node: 'classify',
            kind: 'llm',
            status: 'completed',
            output: { response: ' Refund\n', prompt: 'Kind of: broken' },
          },
          { node: 'route', kind: 'branch', status: 'completed', next: ['load'] },
          { node: 'load', kind: 'code', output: { result: { customer: 'Kira' } } },
          { node: 'thank', status: 'skipped' },
          { node: 'hand_on', status: 'skipped' },
          { node: 'total', output: { result: 20 } },
          { node: 'pay', kind: 'tool', output: { result: 'refunded o-1' } },
        ],
      },
    ]);
    expect([world.steps.loaded, world.steps.refunded]).toEqual([['o-1'], ['o-1']]);
    const [request] = world.llm.requests;
    expect(request).toMatchObject({ temperature: 0, max_completion_tokens: 1000, top_p: 1, frequency_penalty: 0 });
  });

  it('asks an agent in a run of its own', async () => {
    world.say({ 'Kind of': 'complaint', Answer: 'We are sorry.' });
    const { body } = await world.run('triage', { text: 'late again' });
    expect(body).toMatchObject({
      status: 'completed',
      output: { response: 'We are sorry.', memory_state: { message_count: 0 }, usage: { total_tokens: 12 } },
      children_usage: { total_tokens: 12 },
      usage: { total_tokens: 12 },
    });
    const [child] = body['child_run_ids'] as unknown as string[];
    const { body: run } = await world.jackdaw.get(`/api/runs/${child}`);
    expect(run).toMatchObject({ status: 'completed', parent_run_id: body['run_id'], result: 'We are sorry.' });
  });

  it('repeats a node for each item of a list, in order', async () => {
    world.say({ 'Best of': 'the second' });
    const { body } = await world.run('poems', { topics: ['moss', 'rain', 'ink'] });
    expect(body['output']).toMatchObject({
      best: 'the second',
      all: ['moss', 'rain', 'ink'].map((topic, i) => ({ response: `re: Poem ${i} about ${topic}` })),
    });
    expect(world.llm.requests).toHaveLength(4);
  });

  it('can be started in the background, and followed', async () => {
    world.say({ 'Kind of': 'praise!', 'Thank for': 'You are kind.' });
    const started = await world.jackdaw.post('/api/workflows/triage/runs', { input: { text: 'lovely' } });
    expect([started.status, started.headers.get('location')]).toEqual([202, `/api/runs/${started.body['run_id']}`]);
    const events = await world.jackdaw.events(String(started.body['run_id']));
    const published = events.filter(({ event, data }) => event.startsWith('node.') && data['status'] !== 'skipped');
    expect(published.map(({ event, data }) => `${event} ${String(data['node'])}`)).toEqual([
      'node.started classify',
      'node.completed classify',
      'node.started route',
      'node.completed route',
      'node.started thank',
      'node.completed thank',
    ]);
    const text = events.filter(({ event }) => event === 'message.delta').map(({ data }) => data['text']);
    expect(text.join('')).toBe('praise!You are kind.');
    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { output: { response: 'You are kind.' } } });
  });

  it('shows its graph', async () => {
    const { body } = await world.jackdaw.get('/api/workflows/triage');
    expect(body['mermaid']).toContain('n2 -->|"#123;#123;classify.response#125;#125; equals #34;refund#34;"| n3');
    expect(body).toMatchObject({ name: 'triage', input: { required: ['text'] } });
    expect(JSON.stringify(body)).not.toContain('You are the desk');
    const { body: list } = await world.jackdaw.get('/api/workflows');
    expect(list['workflows']).toMatchObject([{ name: 'triage' }, { name: 'poems' }]);
  });
});
