import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentNode, LlmNode, ToolNode, WorkflowBuilder } from '../src/index.js';
import { WorkflowWorld } from './support/workflow-world.js';

const desk = { instructions: 'I am the desk.', tools: [] };

const QUIET = new WorkflowBuilder('quiet')
  .add(new LlmNode('left', 'Left'))
  .add(new LlmNode('right', 'Right'))
  .add(new LlmNode('both', 'Both {{left.response}} {{right.response}}'))
  .build();

const LOUD = new WorkflowBuilder('loud')
  .add(new LlmNode('left', 'Left').setInstructions('Be brief.').streaming())
  .add(new LlmNode('right', 'Right').streaming())
  .withOutput({ left: '{{left}}', right: '{{right.response}}' })
  .build();

const SHAPED = new WorkflowBuilder('shaped')
  .add(
    new LlmNode('kind', 'Kind of {{input.text}}').setResponseFormat({
      schema: { type: 'object', properties: { kind: { type: 'string' } }, required: ['kind'] },
    }),
  )
  .withOutput('{{kind.output.kind}}')
  .build();

const ASKING = new WorkflowBuilder('asking').add(new AgentNode('desk', desk, 'Ask')).build();
const HURRIED = new WorkflowBuilder('hurried', { limits: { runTimeoutMs: 300 } })
  .add(new LlmNode('slow', 'Slow'))
  .build();
const PAYING = new WorkflowBuilder('paying')
  .add(new ToolNode('out', 'give', { to: '{{input.to}}', amount: 5 }))
  .build();

describe('a workflow that is followed, or stopped', () => {
  let world: WorkflowWorld;
  const start = async (name: string, input: object = {}) => {
    const { body } = await world.jackdaw.post(`/api/workflows/${name}/runs`, { input });
    return String(body['run_id']);
  };
  const spoken = async (runId: string) => {
    const events = await world.jackdaw.events(runId);
    return events.flatMap(({ event, data }) => (event === 'message.delta' ? [data['text']] : [])).join('');
  };
  beforeAll(async () => {
    world = await WorkflowWorld.begin([QUIET, LOUD, SHAPED, ASKING, HURRIED, PAYING], {
      options: { securityPolicy: { content: { cards: { input: 'block' }, secrets: { input: 'mask' } } } },
    });
  });
  afterAll(() => world.stop());

  it('streams only a message that no parallel message can interrupt', async () => {
    world.say({ Left: 'one', Right: 'two', Both: 'three four' });
    const runId = await start('quiet');
    expect(await spoken(runId)).toBe('three four');
    expect(world.llm.requests.map(({ stream }) => stream === true)).toEqual([false, false, true]);
  });

  it('starts runs for agents that are to be heard in parallel', async () => {
    world.say({ Left: 'one two', Right: 'three' });
    const { body } = await world.run('loud');
    expect(body).toMatchObject({
      status: 'completed',
      output: { left: { response: 'one two', prompt: 'Left', finish_reason: 'stop' }, right: 'three' },
      children_usage: { total_tokens: 24 },
      nodes: [{ node: 'left', kind: 'llm', child_run_id: expect.any(String) }, { node: 'right' }],
    });
    const [left] = body['child_run_ids'] as unknown as string[];
    const { body: run } = await world.jackdaw.get(`/api/runs/${left}`);
    expect(run).toMatchObject({ parent_run_id: body['run_id'], status: 'completed' });
    const request = world.llm.requests.find(({ messages }) => messages.at(-1)?.content === 'Left')!;
    expect(request.messages.map(({ content }) => content)).toEqual(['Be brief.', 'Left']);
    expect(request).toMatchObject({ stream: true, max_completion_tokens: 1000 });
  });

  it('returns answers as data', async () => {
    world.say({ 'Kind of': '{"kind":"praise"}' });
    expect((await world.run('shaped', { text: 'x' })).body).toMatchObject({ output: 'praise', result: 'praise' });
  });

  it('cancels the agent that it asks', async () => {
    world.say({ Ask: () => ({ hang: true }) });
    const runId = await start('asking');
    await world.llm.waitForRequest(1);
    await world.jackdaw.post(`/api/runs/${runId}/cancel`);
    expect((await world.jackdaw.events(runId)).at(-1)?.event).toBe('run.cancelled');
    await world.llm.waitForAbort();
    const { body } = await world.jackdaw.get(`/api/runs/${runId}`);
    const [child] = body['child_run_ids'] as unknown as string[];
    expect((await world.jackdaw.events(child!)).at(-1)?.event).toBe('run.cancelled');
  });

  it('ends at its deadline', async () => {
    world.say({ Slow: () => ({ hang: true }) });
    const { body } = await world.run('hurried');
    expect(body).toMatchObject({ status: 'failed', finish_reason: 'timeout', error: { code: 'RUN_TIMEOUT' } });
  });

  it('lets a person see a call before it is made, and change it', async () => {
    const { body } = await world.run('paying', { to: 'ann' });
    expect(body['waiting']).toMatchObject([{ id: 'approval:1/out:1', kind: 'approval', call_id: 'out', tool: 'give' }]);
    const approve = (amount: unknown) =>
      world.jackdaw.post(`/api/runs/${String(body['run_id'])}/approve`, { arguments: { to: 'ann', amount } });
    expect((await approve('much')).status).toBe(400);
    expect((await approve(3)).status).toBe(202);
    const last = (await world.jackdaw.events(String(body['run_id']))).at(-1)!;
    expect(last).toMatchObject({ data: { output: { result: 'gave 3 to ann' } } });
  });

  it('refuses input that the policy blocks, and shows no model the masked text', async () => {
    const blocked = await world.run('shaped', { text: '4111 1111 1111 1111' });
    expect([blocked.status, blocked.body['code']]).toEqual([422, 'INPUT_BLOCKED']);
    world.say({ 'Kind of': '{"kind":"secret"}' });
    const secret = `sk-proj-${'a1B2'.repeat(12)}`;
    const { body } = await world.run('shaped', { text: secret });
    expect(body).toMatchObject({ output: 'secret' });
    const published = await world.jackdaw.events(String(body['run_id']));
    expect(published.filter(({ event }) => event === 'policy.decided')).toMatchObject([
      { data: { decision: 'masked' } },
    ]);
    expect(JSON.stringify([world.llm.requests, published])).not.toContain(secret);
  });

  it('resumes after a shutdown in the middle of a node', async () => {
    world.say({ Ask: () => ({ hang: true }) });
    const runId = await start('asking');
    await world.llm.waitForRequest(1);
    await world.jackdaw.stop();
    world.say({ Ask: 'at last' });
    await world.up();
    expect((await world.jackdaw.events(runId)).at(-1)).toMatchObject({
      event: 'run.completed',
      data: { output: { response: 'at last' } },
    });
  });
});
