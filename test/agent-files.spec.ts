import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { AgentFolder, untilAnswered } from './support/agent-folder.js';
import { FakeLlm } from './support/fake-llm.js';
import { gate, startJackdaw, type Jackdaw } from './support/jackdaw.js';

const poet = (prompt: string, more = '') =>
  `<agent name="poet"><description>${prompt}</description><llm api-type="openai" model="m1"/><prompt>${prompt}</prompt>${more}</agent>`;

describe('agents in files', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  const folder = new AgentFolder();

  beforeAll(async () => {
    folder.write('poet.xml', poet('You rhyme.', '<tools><tool name="calc*"/></tools>'));
    folder.write('clerk.json', {
      name: 'clerk',
      extends: 'poet',
      env: ['OFFICE'],
      instructions: { src: 'prompts/clerk.md' },
      description: 'Sits in ${OFFICE}.',
      tools: ['get_timestamp'],
      subAgents: ['poet'],
    });
    folder.write('prompts/clerk.md', 'You file.');
    folder.write('early.yml', 'name: early');
    folder.write('README.md', 'Our agents.');
    folder.write('agent.xsd', '');
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({ llm, env: { AGENTS_DIR: folder.path, OFFICE: 'room 7', LOG_LEVEL: 'info' } });
  });
  beforeEach(() => {
    llm.reset();
    llm.always({ text: 'done' });
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
    folder.dispose();
  });

  /** Asks an agent and returns the model's request: system prompt, tools and model. */
  async function asked(agent?: string) {
    const { status } = await jackdaw.chat({ query: 'x', ...(agent !== undefined && { agent }) });
    expect(status).toBe(200);
    const { messages, tools = [], model } = llm.lastRequest;
    return { system: String(messages[0]?.content), tools: tools.map((tool) => tool.function.name), model };
  }

  async function logged(text: string): Promise<void> {
    // Each request gives the server a turn of the event loop.
    while (!jackdaw.log.some(({ msg }) => String(msg).includes(text))) await jackdaw.get('/api/health/live');
  }

  const descriptions = async () => {
    const { agents } = (await jackdaw.get('/api/agents')).body as unknown as { agents: Record<string, string>[] };
    return agents.map(({ name, description }) => `${name}: ${description}`);
  };
  const health = (broken: number) =>
    untilAnswered(jackdaw, '/api/agent/health', ({ info }) => info?.['agent_files']?.['broken'] === broken);

  it('are listed after the default agent, in the order of the files', async () => {
    const { body } = await jackdaw.get('/api/agents');
    expect(body['agents']).toMatchObject([
      { name: 'default', is_default: true },
      { name: 'clerk', is_default: false, description: 'Sits in room 7.', sub_agents: ['poet'] },
      { name: 'poet', tools: ['calculator'] },
    ]);
    expect((await health(0))['status']).toBe('ok');
  });

  it('answer with their instructions and tools', async () => {
    expect(await asked('poet')).toMatchObject({ system: 'You rhyme.', tools: ['calculator'], model: 'm1' });
    expect(await asked('clerk')).toMatchObject({ system: 'You file.', tools: ['get_timestamp', 'ask_poet'] });
    expect((await asked()).system).toContain('helpful assistant');
  });

  it('are read with any case of the extension; a file with another extension is reported once', async () => {
    const lines = (name: string) => jackdaw.log.filter(({ msg }) => String(msg).includes(join(folder.path, name)));
    expect(lines('early.yml')).toMatchObject([{ msg: expect.stringMatching(/is not read: .*\.xml and \.json/) }]);
    expect(lines('README.md')).toEqual([]);
    folder.write('loud.JSON', { name: 'loud', extends: 'poet', instructions: 'You shout.' });
    folder.write('tall.Xml', poet('You stand.').replace('"poet"', '"tall"'));
    folder.write('late.jsonc', '{}');
    folder.write('.hidden.yml', '');
    folder.write('late.json.bak', '');
    await logged('late.jsonc');
    await untilAnswered(jackdaw, '/api/agents', ({ agents }) => {
      const names = (agents as unknown as { name: string }[]).map(({ name }) => name);
      return names.includes('loud') && names.includes('tall');
    });
    expect(await asked('loud')).toMatchObject({ system: 'You shout.' });
    for (const name of ['loud.JSON', 'tall.Xml']) folder.remove(name);
    await logged('The agent "tall" is removed');
    expect([lines('early.yml'), lines('late.jsonc')].map(({ length }) => length)).toEqual([1, 1]);
    expect([lines('.hidden'), lines('late.json.bak')]).toEqual([[], []]);
    for (const name of ['early.yml', 'late.jsonc', '.hidden.yml', 'late.json.bak']) folder.remove(name);
  });

  it('change for the next run with their files, while a running run stays unchanged', async () => {
    const { opened, open } = gate();
    llm.reply({ gate: opened, calls: [{ name: 'calculator', arguments: { expression: '1+1' } }] });
    const running = jackdaw.chat({ query: 'x', agent: 'poet' });
    await llm.waitForRequest();
    folder.write('poet.xml', poet('You write prose.'));
    await untilAnswered(jackdaw, '/api/agents/poet', (body) => body['description'] === 'You write prose.');
    open();
    expect((await running).body['result']).toBe('done');
    expect(llm.lastRequest.messages[0]?.content).toBe('You rhyme.');
    expect((await asked('poet')).system).toBe('You write prose.');
    await asked('clerk');
    expect(JSON.stringify(llm.lastRequest.tools)).toContain('Asks the agent \\"poet\\": You write prose.');
    expect(await descriptions()).toHaveLength(3);
  });

  it('change with the files that they include or extend', async () => {
    folder.write('prompts/clerk.md', 'You lose files.');
    folder.write('poet.xml', poet('You sing.').replace('m1', 'm2'));
    await logged('The agent "clerk" is changed');
    await untilAnswered(jackdaw, '/api/agents/clerk', ({ model }) => model?.['name'] === 'm2');
    expect((await asked('clerk')).system).toBe('You lose files.');
  });

  it('stay unchanged while a file is broken, which health and the log report', async () => {
    folder.write('poet.xml', '<agent name="poet">\n<prompt>You shout.</promt></agent>');
    const { status, info } = (await health(1)) as unknown as { status: string; info: object };
    expect([status, info]).toMatchObject(['ok', { agent_files: { status: 'up', files: 2, broken: 1 } }]);
    expect((await jackdaw.get('/api/health/ready')).status).toBe(200);
    expect((await asked('poet')).system).toBe('You sing.');
    const lines = jackdaw.log.filter(({ msg }) => String(msg).includes('.xml is invalid; '));
    expect(lines).toHaveLength(1);
    expect(String(lines[0]?.['msg'])).toContain(
      `its agent "poet" is unchanged:\n  ${folder.path}/poet.xml:2:26: not well-formed`,
    );

    folder.write('poet.xml', poet('You whisper.'));
    await health(0);
    expect((await asked('poet')).system).toBe('You whisper.');
    await logged('poet.xml is valid again');
  });

  it('are added and removed with their files in one step', async () => {
    folder.write('new.json', { name: 'new', extends: 'poet', description: 'N' });
    await untilAnswered(jackdaw, '/api/agents', ({ agents }) => agents?.['length'] === 4);
    expect((await asked('new')).system).toBe('You whisper.');
    // The two agents exchange their names.
    folder.write('new.json', { name: 'poet', extends: 'new', description: 'P' });
    folder.write('poet.xml', poet('You hum.').replace('"poet"', '"new"'));
    await untilAnswered(jackdaw, '/api/agents/new', (body) => body['description'] === 'You hum.');
    expect(await descriptions()).toEqual([
      expect.stringMatching(/^default/),
      'clerk: Sits in room 7.',
      'poet: P',
      'new: You hum.',
    ]);
    folder.remove('clerk.json');
    await untilAnswered(jackdaw, '/api/agents', ({ agents }) => agents?.['length'] === 3);
    expect((await jackdaw.chat({ query: 'x', agent: 'clerk' })).body['code']).toBe('AGENT_NOT_FOUND');
  });

  it('can replace the default agent until their file is removed', async () => {
    folder.write('default.xml', '<agent name="default" extends="default"><prompt>You are mine.</prompt></agent>');
    await logged('The agent "default" is added');
    expect((await asked()).system).toBe('You are mine.');
    expect((await descriptions())[0]).toMatch(/^default/);
    folder.remove('default.xml');
    await logged('The agent "default" is removed');
    expect((await asked()).system).toContain('helpful assistant');
  });

  it('change when a symbolic link moves to another folder, as in a ConfigMap', async () => {
    const linked = (name: string, target: string) => {
      symlinkSync(target, join(folder.path, `${name}~`));
      renameSync(join(folder.path, `${name}~`), join(folder.path, name));
    };
    folder.write('..1/map.xml', poet('You are the first.').replace('"poet"', '"map"'));
    linked('..data', '..1');
    linked('map.xml', '..data/map.xml');
    await untilAnswered(jackdaw, '/api/agents/map', ({ description }) => description === 'You are the first.');
    folder.write('..2/map.xml', poet('You are the second.').replace('"poet"', '"map"'));
    linked('..data', '..2');
    folder.remove('..1');
    await untilAnswered(jackdaw, '/api/agents/map', ({ description }) => description === 'You are the second.');
    expect((await health(0))['info']).toMatchObject({ agent_files: { broken: 0 } });
  });

  it('outlive the removal of their folder', async () => {
    folder.remove('.');
    await untilAnswered(jackdaw, '/api/agent/health', ({ info }) => info?.['agent_files']?.['is_readable'] === false);
    expect((await asked('new')).system).toBe('You hum.');
  });
});
