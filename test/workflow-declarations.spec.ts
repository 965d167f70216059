import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BranchNode, LlmNode, WorkflowBuilder, type WorkflowInput } from '../src/index.js';
import { newFolder, startJackdaw, type StartOptions } from './support/jackdaw.js';
import { OrderSteps } from './support/workflow-world.js';

const greet = (name: string): WorkflowInput => ({ name, nodes: [{ id: 'say', type: 'llm', prompt: 'hello' }] });

describe('workflows at the start', () => {
  let folder: string;
  beforeEach(() => {
    folder = newFolder();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const file = (name: string, content: unknown) =>
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  const start = (workflows: readonly WorkflowInput[], more: StartOptions = {}) =>
    startJackdaw({ env: { WORKFLOWS_DIR: folder }, options: { workflows }, ...more });
  const mistake = async (workflows: readonly WorkflowInput[], more: StartOptions = {}) => {
    const outcome: unknown = await start(workflows, more).catch((error: unknown) => error);
    return outcome as { code?: string; message: string };
  };

  it('are loaded from code and from files', async () => {
    file('b.json', greet('of-a-file'));
    file('notes.txt', 'not a workflow');
    const jackdaw = await start([greet('of-code')]);
    const { body } = await jackdaw.get('/api/workflows');
    await jackdaw.stop();
    expect(body['workflows']).toMatchObject([{ name: 'of-code' }, { name: 'of-a-file' }]);
  });

  it('report all mistakes at once, with their positions', async () => {
    file('a.json', '{ "name": ');
    file('b.json', { name: 'b', nodes: [{ id: 'x', type: 'lm' }] });
    file('c.json', { ...greet('c'), colour: 'red' });
    file('d.json', JSON.stringify({ ...greet('d'), output: '{{unknown.response}}' }, null, 1));
    file(
      'e.json',
      '{"name": "e", "nodes": [\n {"id": "x", "type": "llm"},\n {"id": "y", "type": "llm", "after": ["z"]}]}',
    );
    file('f.json', '[]');
    file('g.json', '{"name": "g", "name": "h"}');
    file('h.json', '{"nodes": []}');
    const { code, message } = await mistake([]);
    expect(code).toBe('WORKFLOW_INVALID');
    expect(message.replaceAll(`${folder}/`, '').split('\n  ')).toEqual([
      `The workflows' files in ${folder} have 9 mistakes:`,
      'a.json:1:11: expected a value: {, [, a text in double quotes, a number, true, false or null',
      expect.stringMatching(/^b\.json:1:\d+: nodes\.0\.type: .*llm/),
      expect.stringMatching(/^c\.json:1:\d+: colour: there is no such field/),
      'd.json:1:1: output names "unknown": there is no such node',
      'e.json:3:2: node "y": after[0]: there is no node "z"; did you mean "x" or "y"?',
      'f.json:1:1: expected an object: { "name": "…", "nodes": […] }',
      'g.json:1:15: "name" is there twice',
      expect.stringMatching(/^h\.json:1:1: name: .*missing/),
      expect.stringMatching(/^h\.json:1:2: nodes: .*>=1 items/),
    ]);
  });

  it('must have unique names', async () => {
    file('a.json', greet('same'));
    const { message } = await mistake([greet('same')]);
    const place = `${join(folder, 'a.json')}:1:2`;
    expect(message).toContain(`${place}: two workflows are named "same": here and workflows[0]; rename one`);
  });

  it('refer to existing tools, agents and code only', async () => {
    const nodes: WorkflowInput['nodes'] = [
      { id: 'tool', type: 'tool', tool: 'refnd' },
      { id: 'code', type: 'code', code: 'load_ordr' },
      { id: 'agent', type: 'agent', agent: 'unknown' },
      { id: 'own', type: 'agent', agent: { tools: ['nothing'] } },
      { id: 'all', type: 'map', over: '{{input.list}}', node: { type: 'tool', tool: 'no_such_tool' } },
    ];
    const { code, message } = await mistake([{ name: 'w', nodes }], { tools: [new OrderSteps()] });
    expect(code).toBe('WORKFLOW_INVALID');
    expect(message.split('\n')).toEqual([
      'Workflow "w", node "tool": There is no tool "refnd". Did you mean "refund"?',
      'Workflow "w", node "code": no method bears @WorkflowCode({ name: "load_ordr" }). Did you mean "load_order"?',
      expect.stringContaining('Workflow "w", node "agent": There is no agent "unknown"'),
      expect.stringContaining('Workflow "w", node "own": Agent "w_node4": There is no tool "nothing"'),
      'Workflow "w", node "all": There is no tool "no_such_tool".',
    ]);
  });

  it('are built only if they are valid', () => {
    const builder = new WorkflowBuilder('w').add(new LlmNode('a', 'x')).add(new BranchNode('r'), { after: 'a' });
    expect(() => builder.build()).toThrow('expected array to have >=1 items');
    // @ts-expect-error the compiler knows the nodes that are there
    expect(() => new WorkflowBuilder('w').add(new LlmNode('a', 'x'), { after: 'b' }).build()).toThrow('no node "b"');
  });

  it('cannot be read from a missing folder', async () => {
    const { message } = await mistake([], { env: { WORKFLOWS_DIR: join(folder, 'nowhere') } });
    expect(message).toBe(
      `WORKFLOWS_DIR: there is no folder "${join(folder, 'nowhere')}": make it, or leave WORKFLOWS_DIR out.`,
    );
  });
});
