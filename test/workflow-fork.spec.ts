import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentNode, BranchNode, CodeNode, HumanNode, LlmNode, ToolNode, WorkflowBuilder } from '../src/index.js';
import { WorkflowWorld } from './support/workflow-world.js';

const DESK = { instructions: 'I am the desk.', tools: [] };
const LETTER = new WorkflowBuilder('letter')
  .add(new CodeNode('load', 'load_order', { id: '{{input.order}}' }))
  .add(new LlmNode('draft', 'Draft for {{load.result.customer}}'))
  .add(new AgentNode('desk', DESK, 'Check {{load.result.id}}'))
  .add(new ToolNode('pay', 'refund', { id: '{{load.result.id}}' }), { after: ['draft', 'desk'] })
  .withOutput('{{draft.response}} / {{desk.response}} / {{pay.result}}')
  .build();

const DESK_LIMIT = new WorkflowBuilder('limit', { limits: { maxOutputBytes: 64 } })
  .add(new CodeNode('load', 'load_order', { id: '{{input.order}}' }))
  .add(new BranchNode('route').when({ value: '{{load.result.customer}}', equals: 'Kira' }, 'pay').otherwise('ask'))
  .add(new ToolNode('pay', 'refund', { id: '{{load.result.id}}' }))
  .add(new HumanNode('ask', 'approval', 'Pay {{load.result.customer}}?'))
  .build();

describe('a fork of a workflow’s run', () => {
  let world: WorkflowWorld;
  let original: string;
  const fork = (body: object) => world.jackdaw.post(`/api/runs/${original}/fork`, body);
  const outputOf = async (id: unknown) => (await world.jackdaw.events(String(id))).at(-1)!.data['output'];
  beforeAll(async () => {
    world = await WorkflowWorld.begin([LETTER, DESK_LIMIT]);
    world.say({ Draft: 'first draft', Check: 'checked' });
    const { body } = await world.run('letter', { order: 'o-1' }, { sessionId: 'desk' });
    original = String(body['run_id']);
  });
  afterAll(() => world.stop());

  it('repeats a node and those after it, and retains parallel nodes', async () => {
    world.say({ Draft: 'second draft', Check: 'checked again' });
    const { status, body } = await fork({ fromStep: 'node:draft' });
    expect([status, body]).toMatchObject([202, { forked_from: original, agent: 'workflow:letter' }]);
    expect(body['session_id']).not.toBe('desk');
    expect(await outputOf(original)).toBe('first draft / checked / refunded o-1');
    expect(await outputOf(body['run_id'])).toBe('second draft / checked / refunded o-1');
    expect([world.steps.loaded, world.steps.refunded]).toEqual([['o-1'], ['o-1', 'o-1']]);
    expect(world.llm.requests).toHaveLength(1);
    const { body: run } = await world.jackdaw.get(`/api/runs/${String(body['run_id'])}`);
    expect(run['nodes']).toMatchObject(['load', 'desk', 'draft', 'pay'].map((node) => ({ node, status: 'completed' })));
  });

  it('starts with other input', async () => {
    const { body } = await fork({ fromStep: 'input', edit: { input: { order: 'o-2' } } });
    expect(await outputOf(body['run_id'])).toContain('refunded o-2');
  });

  it('continues with an edited output of a node, without running it', async () => {
    world.say({ Check: 'never' });
    const output = { response: 'as I wrote it', toString: { of: 1 } };
    const { status, body } = await fork({ fromStep: 'node:draft', edit: { output } });
    expect(status).toBe(202);
    expect(await outputOf(body['run_id'])).toBe('as I wrote it / checked / refunded o-1');
    expect(world.llm.requests).toHaveLength(0);
    const { body: run } = await world.jackdaw.get(`/api/runs/${String(body['run_id'])}`);
    expect(run['nodes']).toMatchObject([{}, {}, { node: 'draft', status: 'completed', output }, { node: 'pay' }]);
    const none = await fork({ fromStep: 'node:desk', edit: { output: null } });
    expect(await outputOf(none.body['run_id'])).toBe('first draft /  / refunded o-1');
  });

  it('sends a branch another way, and invents no answer of a person', async () => {
    const { body: done } = await world.run('limit', { order: 'o-7' });
    const forked = (fromStep: string, output: unknown) =>
      world.jackdaw.post(`/api/runs/${String(done['run_id'])}/fork`, { fromStep, edit: { output } });
    const refused = [
      await forked('node:route', { to: 'load' }),
      await forked('node:route', 'ask'),
      await forked('node:ask', { approved: true }),
      await forked('input', {}),
      await forked('node:load', { result: 'x'.repeat(80) }),
    ];
    expect(refused.map(({ status, body }) => [status, body['detail']])).toEqual([
      [400, expect.stringContaining('edit.output: of a branch it is { "to": … } with one of pay, ask, or null')],
      [400, expect.stringContaining('of a branch it is')],
      [400, expect.stringContaining('answer cannot be edited: fork from "node:ask" without it')],
      [400, expect.stringContaining('only in a fork from a node')],
      [400, expect.stringContaining('it has 93 bytes, and limits.maxOutputBytes is 64')],
    ]);
    const { body } = await forked('node:route', { to: 'ask' });
    const items = await world.jackdaw.events(String(body['run_id']));
    expect(items.at(-1)).toMatchObject({ event: 'run.waiting' });
    const { body: run } = await world.jackdaw.get(`/api/runs/${String(body['run_id'])}`);
    expect(run['nodes']).toMatchObject([
      { node: 'load' },
      { node: 'route', output: { to: 'ask', case: null }, next: ['ask'] },
      { node: 'pay', status: 'skipped' },
      { node: 'ask', status: 'running' },
    ]);
  });

  it('is refused if it is invalid, and the error names valid steps', async () => {
    const wrong = [
      await fork({ fromStep: 'model:1' }),
      await fork({ fromStep: 'node:draft', edit: { input: {} } }),
      await fork({ fromStep: 'input', edit: { message: 'x' } }),
    ];
    expect(wrong.map(({ status, body }) => [status, body['detail']])).toEqual([
      [400, expect.stringContaining('input, node:load, node:draft, node:desk, node:pay')],
      [400, expect.stringContaining('only in a fork from "input"')],
      [400, expect.stringContaining('applies only to a run of an agent')],
    ]);
  });
});
