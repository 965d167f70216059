import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CodeNode, MapNode, WorkflowBuilder, WorkflowCode, type WorkflowInput } from '../src/index.js';
import { WorkflowWorld } from './support/workflow-world.js';

const LARGE = 500_000;
const NODES = 40;
const TEXT = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

class Passing {
  @WorkflowCode({ name: 'pass', effect: 'read', input: TEXT })
  pass({ text }: { text: string }): string {
    return text;
  }
}

const node = (n: number) =>
  new CodeNode(`n${n}`, 'pass', { text: n === 1 ? '{{input.text}}' : `{{n${n - 1}.result}}` });
const LONG: WorkflowInput = {
  name: 'long',
  nodes: Array.from({ length: NODES }, (_, index) => node(index + 1).toDefinition()),
};
const EACH = new WorkflowBuilder('each')
  .add(new MapNode('m', '{{input.list}}', new CodeNode('i', 'pass', { text: '{{item}}' })))
  .withOutput('done')
  .build();

describe('the answer of a workflow', () => {
  let world: WorkflowWorld;
  beforeAll(async () => {
    world = await WorkflowWorld.begin([LONG, EACH], { tools: [new Passing()] });
  });
  afterAll(() => world.stop());

  it('has a large value once, and links to nodes that have it', async () => {
    const text = `start-${'x'.repeat(LARGE)}-end`;
    const { body: posted } = await world.run('long', { text });
    const id = String(posted['run_id']);
    const { body } = await world.jackdaw.get(`/api/runs/${id}`);
    for (const answer of [posted, body]) {
      expect(answer).toMatchObject({ status: 'completed', output: { result: text } });
      expect(JSON.stringify(answer).split('-end')).toHaveLength(2);
      expect(JSON.stringify(answer).length).toBeLessThan(LARGE + 30_000);
      expect(answer['nodes']).toHaveLength(NODES);
    }
    const third = (body['nodes'] as unknown as Record<string, unknown>[])[2]!;
    expect(third).toEqual({
      node: 'n3',
      kind: 'code',
      status: 'completed',
      output_bytes: Buffer.byteLength(JSON.stringify({ result: text })),
      output_url: `/api/runs/${id}/node?name=n3`,
    });
    const { body: whole } = await world.jackdaw.get(String(third['output_url']));
    expect(whole).toEqual({ node: 'n3', kind: 'code', status: 'completed', output: { result: text } });
    const { body: events } = await world.jackdaw.get(`/api/runs/${id}/journal?limit=1`);
    expect(events).toMatchObject({ steps: [{ kind: 'value' }] });
  });

  it('has a small value in its node and not in the tool result again', async () => {
    const { body } = await world.run('long', { text: 'a small value' });
    const tools = body['tool_results'] as unknown as Record<string, unknown>[];
    expect(tools[1]).toEqual({ tool: 'pass', success: true, node: 'n2', execution_time_ms: expect.any(Number) });
    expect((body['nodes'] as unknown as unknown[])[1]).toMatchObject({
      node: 'n2',
      output: { result: 'a small value' },
    });
  });

  it('stays small with many items, and links to each', async () => {
    const list = Array.from({ length: 300 }, (_, n) => `${n}-${'y'.repeat(10_000)}`.slice(0, 3000));
    const { body } = await world.run('each', { list: [...list, 'z'.repeat(20_000)] });
    expect(body).toMatchObject({ status: 'completed', output: 'done', result: 'done' });
    expect(JSON.stringify(body).length).toBeLessThan(1_300_000);
    const nodes = body['nodes'] as unknown as Record<string, unknown>[];
    const item = nodes.find(({ node: name }) => name === 'm/301')!;
    expect(item['output_bytes']).toBe(20_013);
    const { body: whole } = await world.jackdaw.get(String(item['output_url']));
    expect(whole).toMatchObject({ node: 'm/301', output: { result: 'z'.repeat(20_000) } });
    expect(nodes.every((one) => 'output' in one || 'output_url' in one)).toBe(true);
  });

  it('reports an unknown node', async () => {
    const { body } = await world.run('each', { list: [] });
    const id = String(body['run_id']);
    const missing = await world.jackdaw.get(`/api/runs/${id}/node?name=m/1`);
    expect([missing.status, missing.body['code'], missing.body['detail']]).toEqual([
      404,
      'NOT_FOUND',
      expect.stringContaining('"m/1"'),
    ]);
    const wrong = [
      await world.jackdaw.get(`/api/runs/${id}/node`),
      await world.jackdaw.get(`/api/runs/${id}/node?name=a/b`),
    ];
    expect(wrong.map(({ status }) => status)).toEqual([400, 400]);
    expect((await world.jackdaw.get('/api/runs/none/node?name=m')).body['code']).toBe('RUN_NOT_FOUND');
  });
});
