import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AgentNode, CodeNode, LlmNode, MapNode, WorkflowBuilder } from '../src/index.js';
import { WorkflowWorld } from './support/workflow-world.js';

const FAULT = { status: 500, body: { error: { message: 'broken' } } };

const RETRIED = new WorkflowBuilder('retried')
  .add(new CodeNode('load', 'load_order', { id: '{{input.order}}' }).withRetry(3, 1))
  .build();

const FALLBACK = new WorkflowBuilder('fallback')
  .add(new LlmNode('word', 'Word {{input.n}}').withRetry(2, 1).withFallback('excuse'))
  .add(new LlmNode('excuse', 'Excuse'))
  .add(new LlmNode('shout', 'Shout {{word.response}}'), { after: 'word' })
  .withOutput('{{shout.response}}{{excuse.response}}')
  .build();

const EACH = (name: string) =>
  new WorkflowBuilder(name).add(
    keeping(name, new MapNode('each', '{{input.orders}}', new CodeNode('load', 'load_order', { id: '{{item}}' }), 1)),
  );

const SIDE = new WorkflowBuilder('side')
  .add(new CodeNode('load', 'load_order', { id: 'x' }))
  .add(new LlmNode('slow', 'Slow'))
  .build();

const SMALL = new WorkflowBuilder('small', { limits: { maxOutputBytes: 64 } })
  .add(new CodeNode('load', 'load_order', { id: '{{input.order}}' }))
  .build();

const EMPTY = new WorkflowBuilder('empty')
  .add(new LlmNode('say'))
  .add(new AgentNode('desk', { instructions: 'I am desk.', tools: [] }, '{{say.response}}'))
  .build();

const DESK = new WorkflowBuilder('desk').add(new AgentNode('desk', { instructions: 'I am desk.', tools: [] })).build();

function keeping(name: string, node: MapNode<'each'>): MapNode<'each'> {
  return name === 'keeping' ? node.keepingErrors() : node;
}

describe('a node that fails', () => {
  let world: WorkflowWorld;
  beforeAll(async () => {
    world = await WorkflowWorld.begin([
      RETRIED,
      FALLBACK,
      EACH('keeping').build(),
      EACH('strict').build(),
      SIDE,
      SMALL,
      EMPTY,
      DESK,
    ]);
  });
  afterAll(() => world.stop());
  beforeEach(() => {
    world.steps.failures = world.steps.loaded.length = 0;
  });

  it('is retried up to its declared limit', async () => {
    world.steps.failures = 2;
    expect((await world.run('retried', { order: 'a' })).body).toMatchObject({ output: { result: { id: 'a' } } });
    world.steps.failures = 3;
    const { status, body } = await world.run('retried', { order: 'b' });
    expect([status, body]).toMatchObject([
      200,
      {
        status: 'failed',
        is_complete: false,
        error: { code: 'TOOL_FAILED', message: 'Node "load" failed: The shelf is locked.' },
        nodes: [{ node: 'load', status: 'failed' }],
      },
    ]);
    expect(world.steps.loaded).toEqual(['a', 'a', 'a', 'b', 'b', 'b']);
  });

  it('leads to its fallback, and nowhere else', async () => {
    world.say({ Word: () => FAULT, Excuse: 'sorry' });
    const { body } = await world.run('fallback', { n: 1 });
    expect([body['output'], body['status']]).toEqual(['sorry', 'completed']);
    expect(body['nodes']).toMatchObject([
      { node: 'word', status: 'failed', error: { code: 'MODEL_UNAVAILABLE' } },
      { node: 'excuse', status: 'completed' },
      { node: 'shout', status: 'skipped' },
    ]);
    expect(world.llm.requests).toHaveLength(3);
    world.say({ Word: 'hey', Shout: 'HEY' });
    expect((await world.run('fallback', { n: 2 })).body['output']).toBe('HEY');
  });

  it('fails a list at its first failing item, or records the error', async () => {
    world.steps.failures = 1;
    const strict = await world.run('strict', { orders: ['a', 'b'] });
    expect(strict.body).toMatchObject({
      error: { message: 'Node "each" failed: Node "each/1" failed: The shelf is locked.' },
    });
    expect(world.steps.loaded).toEqual(['a']);
    world.steps.failures = 1;
    const retained = await world.run('keeping', { orders: ['a', 'b'] });
    expect(retained.body['output']).toMatchObject({
      results: [{ error: { code: 'TOOL_FAILED' } }, { result: { id: 'b' } }],
    });
    const none = await world.run('strict', { orders: 'a' });
    expect(none.body).toMatchObject({ error: { message: 'Node "each" failed: over: it is a string, not a list' } });
  });

  it('stops the nodes that run in parallel', async () => {
    world.steps.failures = 1;
    world.say({ Slow: () => ({ hang: true }) });
    const { body } = await world.run('side');
    expect(body).toMatchObject({ status: 'failed', error: { code: 'TOOL_FAILED' } });
    expect(world.llm.requests.length).toBeLessThanOrEqual(1);
  });

  it('fails when its output exceeds the limit', async () => {
    const { body } = await world.run('small', { order: 'o'.repeat(100) });
    expect(body).toMatchObject({ status: 'failed', error: { code: 'NODE_OUTPUT_TOO_LARGE' } });
  });

  it('is reported before anything runs, if its question is empty', async () => {
    const prompt = await world.run('empty', {});
    expect([prompt.status, prompt.body['detail']]).toEqual([400, expect.stringContaining('Prompt is required')]);
    const message = await world.run('desk', { message: ' ' });
    expect([message.status, message.body['detail']]).toEqual([
      400,
      expect.stringContaining('Message or query is required'),
    ]);
    world.say({ hello: () => ({ text: ' ' }) });
    const later = await world.run('empty', { prompt: 'hello' });
    expect(later.body).toMatchObject({ status: 'failed', nodes: [{ node: 'say' }] });
    world.say({ what: 'that' });
    expect((await world.run('desk', { query: 'what?' })).body).toMatchObject({ output: { response: 'that' } });
  });

  it('answers an invalid request with an error', async () => {
    const wrong = [
      await world.jackdaw.post('/api/workflows/unknown/runs', {}),
      await world.jackdaw.post('/api/workflows/side/runs', { input: [] }),
      await world.jackdaw.post('/api/workflows/side/runs', { wait: 'yes' }),
      await world.jackdaw.post('/api/workflows/side/runs', { more: 1 }),
      await world.jackdaw.get('/api/workflows/unknown'),
    ];
    expect(wrong.map(({ status, body }) => [status, body['code']])).toEqual([
      [404, 'WORKFLOW_NOT_FOUND'],
      [400, 'VALIDATION_FAILED'],
      [400, 'VALIDATION_FAILED'],
      [400, 'VALIDATION_FAILED'],
      [404, 'WORKFLOW_NOT_FOUND'],
    ]);
  });

  it('starts once for one Idempotency-Key', async () => {
    const send = () =>
      world.jackdaw.post(
        '/api/workflows/retried/runs',
        { input: { order: 'k' }, wait: true },
        { 'idempotency-key': 'k1' },
      );
    const [first, second] = [await send(), await send()];
    expect(second.body['run_id']).toBe(first.body['run_id']);
    expect([second.headers.get('idempotent-replayed'), world.steps.loaded]).toEqual(['true', ['k']]);
  });
});
