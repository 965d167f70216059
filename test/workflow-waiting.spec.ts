import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BranchNode, CodeNode, HumanNode, LlmNode, ToolNode, WorkflowBuilder } from '../src/index.js';
import { gate } from './support/jackdaw.js';
import { WorkflowWorld } from './support/workflow-world.js';

const REFUND = new WorkflowBuilder('refund_desk')
  .add(new CodeNode('load', 'load_order', { id: '{{input.order}}' }))
  .add(
    new HumanNode('leave', 'approval', 'May {{load.result.customer}} have the money back?')
      .show({ order: '{{load.result}}' })
      .withFallback('refuse'),
  )
  .add(new ToolNode('pay', 'refund', { id: '{{load.result.id}}' }), { after: 'leave' })
  .add(new LlmNode('refuse', 'Say no to {{load.result.customer}}'))
  .build();

const ASK = new WorkflowBuilder('ask')
  .add(new HumanNode('colour', 'input', 'Which colour?').setSchema({ type: 'string', enum: ['red', 'blue'] }))
  .add(new HumanNode('size', 'input', 'Which size?'), { after: [] })
  .add(new LlmNode('word', 'Word for {{colour.value}} {{size.value}}'))
  .build();

const STRICT = new WorkflowBuilder('strict')
  .add(new HumanNode('leave', 'approval', 'Well?'))
  .add(new LlmNode('next', 'Next'), { after: 'leave' })
  .build();

const LENIENT = new WorkflowBuilder('lenient')
  .add(new HumanNode('leave', 'approval', 'Well?').continueWhenDenied())
  .add(new BranchNode('route').when({ value: '{{leave.approved}}', equals: true }, 'yes').otherwise('no'))
  .add(new LlmNode('yes', 'Yes'))
  .add(new LlmNode('no', 'No, since {{leave.reason}}'))
  .build();

type Waiting = { kind: string; call_id: string; question?: string; reason?: string; arguments: string }[];

describe('a workflow that waits for people', () => {
  let world: WorkflowWorld;
  const runId = (body: object) => String((body as Record<string, unknown>)['run_id']);
  const end = async (id: string) => (await world.jackdaw.events(id)).at(-1)!;
  beforeAll(async () => {
    world = await WorkflowWorld.begin([REFUND, ASK, STRICT, LENIENT]);
  });
  afterAll(() => world.stop());

  it('waits for approval without a process, and resumes after a restart', async () => {
    const { status, body } = await world.run('refund_desk', { order: 'o-7' });
    const waiting = body['waiting'] as unknown as Waiting;
    expect([status, body['status']]).toEqual([202, 'waiting']);
    expect(waiting).toMatchObject([{ kind: 'approval', call_id: 'leave', reason: 'May Kira have the money back?' }]);
    expect(JSON.parse(waiting[0]!.arguments)).toMatchObject({ order: { id: 'o-7' } });
    await world.jackdaw.stop();
    await world.up();
    expect((await world.jackdaw.post(`/api/runs/${runId(body)}/approve`, {})).status).toBe(202);
    expect(await end(runId(body))).toMatchObject({
      event: 'run.completed',
      data: { output: { result: 'refunded o-7' } },
    });
    expect([world.steps.loaded, world.steps.refunded]).toEqual([['o-7'], ['o-7']]);
  });

  it('takes the other branch after a denial', async () => {
    world.say({ 'Say no': 'No, Kira.' });
    const { body } = await world.run('refund_desk', { order: 'o-8' });
    await world.jackdaw.post(`/api/runs/${runId(body)}/deny`, { reason: 'too late' });
    expect(await end(runId(body))).toMatchObject({ data: { output: { response: 'No, Kira.' } } });
    const { body: run } = await world.jackdaw.get(`/api/runs/${runId(body)}`);
    expect(run['nodes']).toMatchObject([
      { node: 'load' },
      { node: 'leave', status: 'failed', error: { code: 'TOOL_DENIED', message: 'Denied by local: too late' } },
      { node: 'pay', status: 'skipped' },
      { node: 'refuse', status: 'completed' },
    ]);
  });

  it('fails, or continues with the denial, as the node declares', async () => {
    const strict = await world.run('strict');
    await world.jackdaw.post(`/api/runs/${runId(strict.body)}/deny`, {});
    expect(await end(runId(strict.body))).toMatchObject({
      event: 'run.failed',
      data: { error: { code: 'TOOL_DENIED', message: 'Node "leave" failed: Denied by local.' } },
    });
    const lenient = await world.run('lenient');
    await world.jackdaw.post(`/api/runs/${runId(lenient.body)}/deny`, { reason: 'it rains' });
    expect(await end(runId(lenient.body))).toMatchObject({ data: { output: { response: 're: No, since it rains' } } });
  });

  it('asks several questions at once, and accepts answers one by one, checked', async () => {
    const { body } = await world.run('ask');
    const id = runId(body);
    expect(body['waiting']).toMatchObject([
      { kind: 'input', call_id: 'colour', question: 'Which colour?' },
      { kind: 'input', call_id: 'size', question: 'Which size?' },
    ]);
    const wrong = await world.jackdaw.post(`/api/runs/${id}/input`, { callId: 'colour', value: 'green' });
    expect([wrong.status, wrong.body]).toMatchObject([400, { code: 'VALIDATION_FAILED' }]);
    await world.jackdaw.post(`/api/runs/${id}/input`, { callId: 'colour', value: 'red' });
    const first = (await world.jackdaw.events(id)).at(-1)!;
    expect(first).toMatchObject({ event: 'run.waiting', data: { requests: [{ call_id: 'size' }] } });
    await world.jackdaw.post(`/api/runs/${id}/input`, { callId: 'size', value: 7 });
    expect(await end(id)).toMatchObject({ data: { output: { response: 're: Word for red 7' } } });
  });

  it('ends when it is cancelled: while it waits, and while a node is at work', async () => {
    const { body } = await world.run('ask');
    await world.jackdaw.post(`/api/runs/${runId(body)}/cancel`);
    expect(await end(runId(body))).toMatchObject({ event: 'run.cancelled' });

    const hold = gate();
    world.say({ 'Say no': () => ({ gate: hold.opened, text: 'late' }) });
    const started = await world.run('refund_desk', { order: 'o-9' });
    await world.jackdaw.post(`/api/runs/${runId(started.body)}/deny`, {});
    await world.llm.waitForRequest(1);
    await world.jackdaw.post(`/api/runs/${runId(started.body)}/cancel`);
    expect(await end(runId(started.body))).toMatchObject({
      event: 'run.cancelled',
      data: { finish_reason: 'cancelled', is_complete: false },
    });
    await world.llm.waitForAbort();
    hold.open();
  });
});
