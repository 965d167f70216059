import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentFolder, untilAnswered } from './support/agent-folder.js';
import { gate } from './support/jackdaw.js';
import { WorkflowWorld } from './support/workflow-world.js';

const say = (name: string, prompt: string, more: object = {}) => ({
  $schema: '../docs/schemas/workflow.schema.json',
  name,
  nodes: [{ id: 'say', type: 'llm', prompt }],
  output: '{{say.response}}',
  ...more,
});

describe('workflows in files', () => {
  const folder = new AgentFolder();
  let world: WorkflowWorld;
  beforeAll(async () => {
    folder.write('b.json', say('greet', 'Hello'));
    folder.write('.swap.json', '{');
    folder.write('c.yaml', 'name: c');
    const code = { ...say('of-code', 'Code'), $schema: undefined };
    delete code.$schema;
    world = await WorkflowWorld.begin([code as never], { env: { WORKFLOWS_DIR: folder.path, LOG_LEVEL: 'info' } });
  });
  afterAll(async () => {
    await world.stop();
    folder.dispose();
  });

  const names = async () => {
    const { body } = await world.jackdaw.get('/api/workflows');
    return (body['workflows'] as unknown as { name: string }[]).map(({ name }) => name);
  };
  const until = (isThere: (all: string) => boolean) =>
    untilAnswered(world.jackdaw, '/api/workflows', (body) => isThere(JSON.stringify(body)));
  const health = (broken: number) =>
    untilAnswered(world.jackdaw, '/api/agent/health', ({ info }) => info?.['workflow_files']?.['broken'] === broken);
  const mistakes = () =>
    world.jackdaw.log.flatMap(({ msg }) => (String(msg).includes('.json is invalid; ') ? [String(msg)] : []));

  it('are those of code and then those of files, which health counts', async () => {
    expect(await names()).toEqual(['of-code', 'greet']);
    expect((await health(0))['info']).toMatchObject({ workflow_files: { status: 'up', files: 1, broken: 0 } });
    expect((await world.run('greet')).body['result']).toBe('re: Hello');
  });

  it('are read whatever the case of their extension, and files with another extension are reported', async () => {
    const reports = (name: string) =>
      world.jackdaw.log.filter(({ msg }) => String(msg).startsWith(`${folder.path}/${name} is not read`));
    expect(reports('c.yaml')).toMatchObject([{ msg: expect.stringContaining('.json') }]);
    folder.write('agent.xml', '<agent name="x"/>');
    folder.write('d.JSON', say('loud', 'HELLO'));
    await until((all) => all.includes('loud'));
    expect([reports('c.yaml'), reports('agent.xml')]).toMatchObject([[{}], [{}]]);
    for (const name of ['c.yaml', 'agent.xml', 'd.JSON']) folder.remove(name);
    await until((all) => !all.includes('loud'));
  });

  it('change with the next run when their files change; a running one stays unchanged', async () => {
    const { opened, open } = gate();
    world.llm.reply({ gate: opened, text: 'the old one' });
    const running = world.run('greet');
    await world.llm.waitForRequest();
    folder.write('b.json', say('greet', 'Good day', { description: 'new' }));
    await until((all) => all.includes('"description":"new"'));
    open();
    expect((await running).body['result']).toBe('the old one');
    expect((await world.run('greet')).body['result']).toBe('re: Good day');
  });

  it('stay unchanged while a file is broken, and each mistake is reported with its position', async () => {
    folder.write('b.json', '{ "name": "greet",\n  "nodes": [{ "id": "say", "type": "llm", "promt": "x" }]\n}');
    expect(await health(1)).toMatchObject({ status: 'ok' });
    expect((await world.run('greet')).body['result']).toBe('re: Good day');
    expect(mistakes()).toEqual([
      `${folder.path}/b.json is invalid; its workflow "greet" is unchanged:\n  ` +
        `${folder.path}/b.json:2:43: nodes.0.promt: there is no such field`,
    ]);
    folder.write('b.json', say('greet', 'Mended'));
    await health(0);
    expect((await world.run('greet')).body['result']).toBe('re: Mended');
  });

  it('are rejected when they refer to missing things, or reuse a name', async () => {
    const nodes = [{ id: 'pay', type: 'tool', tool: 'refnd' }];
    folder.write('c.json', say('other', 'x', { nodes, output: 1 }));
    folder.write('d.json', say('of-code', 'x'));
    await health(2);
    expect(mistakes().slice(1)).toEqual([
      expect.stringMatching(
        /c\.json is invalid; it defines no workflow:\n.*c\.json:1:\d+: There is no tool "refnd"\. Did/s,
      ),
      expect.stringMatching(/d\.json:1:\d+: two workflows are named "of-code": here and workflows\[0\]; rename one$/),
    ]);
    folder.remove('c.json');
    folder.remove('d.json');
    await health(0);
  });

  it('are added and removed with their files, and may exchange their names', async () => {
    folder.write('a.json', say('leave', 'Bye'));
    await until((all) => all.includes('"leave"'));
    folder.write('a.json', say('greet', 'Bye'));
    folder.write('b.json', say('leave', 'Mended'));
    await untilAnswered(world.jackdaw, '/api/agent/health', () =>
      world.jackdaw.log.some(({ msg }) => msg === 'The workflow "leave" is changed'),
    );
    expect((await world.run('greet')).body['result']).toBe('re: Bye');
    expect(await names()).toEqual(['of-code', 'greet', 'leave']);
    folder.remove('a.json');
    await until((all) => !all.includes('"greet"'));
    expect((await world.run('greet')).body['code']).toBe('WORKFLOW_NOT_FOUND');
  });
});
