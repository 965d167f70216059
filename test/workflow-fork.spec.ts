import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AgentNode, CodeNode, LlmNode, ToolNode, WorkflowBuilder } from '../src/index.js';
import { WorkflowWorld } from './support/workflow-world.js';

const DESK = { instructions: 'I am the desk.', tools: [] };
const LETTER = new WorkflowBuilder('letter')
  .add(new CodeNode('load', 'load_order', { id: '{{input.order}}' }))
  .add(new LlmNode('draft', 'Draft for {{load.result.customer}}'))
  .add(new AgentNode('desk', DESK, 'Check {{load.result.id}}'))
  .add(new ToolNode('pay', 'refund', { id: '{{load.result.id}}' }), { after: ['draft', 'desk'] })
  .withOutput('{{draft.response}} / {{desk.response}} / {{pay.result}}')
  .build();

describe('a fork of a workflow’s run', () => {
  let world: WorkflowWorld;
  let original: string;
  const fork = (body: object) => world.jackdaw.post(`/api/runs/${original}/fork`, body);
  const outputOf = async (id: unknown) => (await world.jackdaw.events(String(id))).at(-1)!.data['output'];
  beforeAll(async () => {
    world = await WorkflowWorld.begin([LETTER]);
    world.say({ Draft: 'first draft', Check: 'checked' });
    const { body } = await world.run('letter', { order: 'o-1' }, { sessionId: 'desk' });
    original = String(body['run_id']);
  });
  afterAll(() => world.stop());

  it('does a node and those after it anew, and keeps what went on beside it', async () => {
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

  it('begins with other input', async () => {
    const { body } = await fork({ fromStep: 'input', edit: { input: { order: 'o-2' } } });
    expect(await outputOf(body['run_id'])).toContain('refunded o-2');
  });

  it('is refused where it makes no sense, naming what does', async () => {
    const wrong = [
      await fork({ fromStep: 'model:1' }),
      await fork({ fromStep: 'node:draft', edit: { input: {} } }),
      await fork({ fromStep: 'input', edit: { message: 'x' } }),
    ];
    expect(wrong.map(({ status, body }) => [status, body['detail']])).toEqual([
      [400, expect.stringContaining('input, node:load, node:draft, node:desk, node:pay')],
      [400, expect.stringContaining('only in a fork from "input"')],
      [400, expect.stringContaining('only a run of an agent has it')],
    ]);
  });
});
