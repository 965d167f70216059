import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  CodeNode,
  LlmNode,
  MapNode,
  Tool,
  ToolNode,
  WorkflowBuilder,
  WorkflowCode,
  type WorkflowInput,
} from '../src/index.js';
import { WorkflowWorld } from './support/workflow-world.js';

const PERSON = {
  type: 'object',
  properties: { 姓名: { type: 'string' }, 年龄: { type: 'integer' } },
  required: ['姓名', '年龄'],
};
const SEARCH = z.object({
  text: z.string(),
  limit: z.number().int().optional(),
  filter: z.object({ lang: z.string().optional(), year: z.number().nullable() }).optional(),
});

class Search {
  readonly calls: unknown[] = [];

  @Tool({ name: 'search', description: 'Searches.', effect: 'read', input: SEARCH })
  search(args: unknown): unknown {
    this.calls.push(args);
    return { 'first name': 'Ann', größe: 7, list: [{ 名: 'a' }, { 名: 'b' }] };
  }

  @WorkflowCode({ name: 'count', effect: 'read', input: SEARCH })
  count(args: unknown): number {
    return this.calls.push(args);
  }
}

const ARGUMENTS = {
  text: '{{input.text}}',
  limit: '{{input.limit}}',
  filter: { lang: '{{input.lang}}', year: '{{input.year}}' },
};
const INPUT = z.object({
  text: z.string(),
  lang: z.string().default('en'),
  page: z.object({ size: z.number().default(10) }).default({ size: 20 }),
  tags: z.array(z.object({ weight: z.number().default(1) })).optional(),
});

const FLOWS: readonly WorkflowInput[] = [
  new WorkflowBuilder('answer')
    .add(new LlmNode('x', 'Who is {{input["名 字"]}}?').setResponseFormat({ schema: PERSON }))
    .withOutput({ n: '{{x.output.姓名}}', y: '{{x.output["年龄"]}}' })
    .build(),
  new WorkflowBuilder('items')
    .add(new ToolNode('x', 'search', { text: 'all' }))
    .add(new MapNode('m', '{{x.result.list}}', new LlmNode('i', 'say {{item.名}}')))
    .withOutput({ said: '{{m.results[1].response}}', name: '{{x.result.first name}}', size: '{{x.result.größe}}' })
    .build(),
  new WorkflowBuilder('optional')
    .add(new ToolNode('t', 'search', ARGUMENTS))
    .add(new CodeNode('c', 'count', ARGUMENTS), { after: 't' })
    .build(),
  new WorkflowBuilder('defaults')
    .withInput(INPUT)
    .add(new LlmNode('x', 'In {{input.lang}}'))
    .withOutput('{{input}}')
    .build(),
];

describe('a place in a workflow', () => {
  const search = new Search();
  let world: WorkflowWorld;
  beforeAll(async () => {
    world = await WorkflowWorld.begin(FLOWS, { tools: [search] });
  });
  afterAll(() => world.stop());
  beforeEach(() => void (search.calls.length = 0));

  it('names any key of the input, of an answer, of a result and of an item', async () => {
    world.say({ Who: '{"姓名":"张三","年龄":30}' });
    expect((await world.run('answer', { '名 字': '李四' })).body['output']).toEqual({ n: '张三', y: 30 });
    expect(world.llm.lastRequest.messages.at(-1)).toMatchObject({ content: 'Who is 李四?' });
    world.say({});
    expect((await world.run('items')).body['output']).toEqual({ said: 're: say b', name: 'Ann', size: 7 });
  });

  it('omits an optional argument if it has no value', async () => {
    const { body } = await world.run('optional', { text: 'a' });
    expect(body['status']).toBe('completed');
    expect(search.calls).toEqual([
      { text: 'a', filter: { year: null } },
      { text: 'a', filter: { year: null } },
    ]);
    search.calls.length = 0;
    await world.run('optional', { text: 'a', limit: null, year: 3 });
    expect(search.calls[0]).toEqual({ text: 'a', filter: { year: 3 } });
    const { body: none } = await world.run('optional', { limit: 3 });
    expect(none).toMatchObject({ status: 'failed', error: { code: 'TOOL_INVALID_ARGUMENTS' } });
  });

  it('finds the defaults of the input schema where a caller left fields out', async () => {
    const { body } = await world.run('defaults', { text: 'a', tags: [{}, { weight: 3 }] });
    const page = { size: 20 };
    expect(body['output']).toEqual({ text: 'a', lang: 'en', page, tags: [{ weight: 1 }, { weight: 3 }] });
    const large = await world.jackdaw.post(
      '/api/workflows/defaults/runs',
      '{"input":{"text":"a","page":{},"n":12345678901234567890},"wait":true}',
    );
    expect(large.body['output']).toMatchObject({ page: { size: 10 }, lang: 'en' });
    expect((await world.run('defaults', { lang: 'de' })).status).toBe(400);
    expect(world.llm.lastRequest.messages.at(-1)).toMatchObject({ content: 'In en' });
  });
});
