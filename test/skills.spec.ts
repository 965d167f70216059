import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExactTokenCounter } from '../src/llm/tokens/exact-token-counter.js';
import { VocabularyLoader } from '../src/llm/tokens/vocabulary.loader.js';
import { AgentFolder, untilAnswered } from './support/agent-folder.js';
import { AgentHost } from './support/agent-host.js';
import { FakeLlm } from './support/fake-llm.js';
import { gate, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { calls, says, ScriptedChatModel } from './support/scripted-chat-model.js';

const skill = (name: string, description: string, body = `The rules of ${name}.`, more = '') =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\n\n${body}\n`;
const LONG = 'Handles 退款 and refunds of every kind, for customers that ask for their money. '.repeat(12);
const MODEL = { provider: 'openai', name: 'm1' };

describe('skills', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  const folder = new AgentFolder();

  beforeAll(async () => {
    folder.write('refund/SKILL.md', skill('refund', LONG, undefined, 'license: MIT\nmetadata:\n  author: desk\n'));
    folder.write('refund/references/limits.md', 'At most 50 euros.');
    folder.write('refund/logo.bin', '\0\u0001');
    folder.write('refund/huge.txt', 'x'.repeat(61_441));
    folder.write('legal-terms/SKILL.md', skill('legal-terms', 'Writes terms.'));
    folder.write('legal-privacy/SKILL.md', skill('legal-privacy', 'Writes privacy notices.'));
    folder.write('broken/SKILL.md', '---\nname: broken\ndescription: [a\n---\nText.');
    folder.write('notes.txt', 'not a skill');
    writeFileSync(join(folder.outside, 'secret.txt'), 'a secret');
    symlinkSync(join(folder.outside, 'secret.txt'), join(folder.path, 'refund/link.txt'));
    symlinkSync(folder.outside, join(folder.path, 'refund/parent'));
    mkdirSync(join(folder.outside, 'elsewhere'));
    writeFileSync(join(folder.outside, 'elsewhere/SKILL.md'), skill('elsewhere', 'Is outside.'));
    symlinkSync(join(folder.outside, 'elsewhere'), join(folder.path, 'elsewhere'));
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({
      llm,
      env: { SKILLS_DIR: folder.path },
      options: {
        agents: [
          { name: 'clerk', model: MODEL, tools: [], instructions: 'You help.', skills: ['refund', 'broken'] },
          { name: 'lawyer', model: MODEL, tools: [], instructions: 'You write.', skills: ['legal-*'] },
          { name: 'reader', model: MODEL, tools: [], skills: ['refund'], protocol: 'react' },
          { name: 'plain', model: MODEL, tools: [], instructions: 'You talk.' },
        ],
      },
    });
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

  const system = () => String(llm.lastRequest.messages[0]?.content);
  const tools = () => (llm.lastRequest.tools ?? []).map((tool) => tool.function.name);
  const ask = async (agent: string) => expect((await jackdaw.chat({ query: 'x', agent })).status).toBe(200);

  /** Reads a skill as the model of an agent, and returns the result in the next request. */
  async function read(args: object, agent = 'clerk'): Promise<string> {
    llm.reset();
    llm.reply({ calls: [{ name: 'read_skill', arguments: { ...args } }] });
    llm.always({ text: 'done' });
    await ask(agent);
    return String(llm.lastRequest.messages.at(-1)?.content);
  }

  it('cost at most 120 tokens each until they are read, and only the agents that select them', async () => {
    await ask('clerk');
    const line = system().split('\n').at(-1)!;
    expect(line).toMatch(/^- refund: Handles 退款 and refunds .*…$/);
    const counter = new ExactTokenCounter(await new VocabularyLoader().load('o200k_base'));
    expect(counter.count(`${line}\n`)).toBeLessThanOrEqual(120);
    expect(counter.count(`${line}\n`)).toBeGreaterThan(80);
    expect(system()).not.toContain('The rules of refund.');
    expect(tools()).toEqual(['read_skill']);
    await ask('lawyer');
    expect(system()).toMatch(
      /^You write\.\n[^]*\n- legal-privacy: Writes privacy notices\.\n- legal-terms: Writes terms\.$/,
    );
    await ask('plain');
    expect([system(), tools()]).toEqual(['You talk.', []]);
  });

  it('are read whole, with the list of their files', async () => {
    const text = await read({ name: 'refund' });
    expect(text).toMatch(
      /^The rules of refund\.\n\nFiles of the skill .*: huge\.txt, logo\.bin, references\/limits\.md$/,
    );
    expect(await read({ name: 'refund', path: 'references/limits.md' })).toBe('At most 50 euros.');
  });

  it('are read in a text protocol too', async () => {
    llm.reset();
    llm.reply({ text: 'Thought: x\nAction: read_skill\nAction Input: {"name": "refund"}' });
    llm.always({ text: 'Final Answer: done' });
    await ask('reader');
    expect(llm.requests[0]!.messages[0]!.content).toContain('- read_skill: ');
    expect(String(llm.lastRequest.messages.at(-1)?.content)).toContain('The rules of refund.');
  });

  it.each([
    ['a path with ..', { path: '../legal-terms/SKILL.md' }, /inside the folder, without \.\./],
    ['an absolute path', { path: '/etc/passwd' }, /expected a path inside the folder/],
    ['a drive', { path: 'C:\\secret' }, /expected a path inside the folder/],
    ['a link out of the folder', { path: 'link.txt' }, /it leads out of the folder/],
    ['a path through such a link', { path: 'parent/secret.txt' }, /it leads out of the folder/],
    ['a folder', { path: 'references' }, /expected a file/],
    ['an absent file', { path: 'none.md' }, /there is no such file; its files: .*references\/limits\.md/],
    ['a binary file', { path: 'logo.bin' }, /it is (?:a binary file|UTF-16)/],
    ['a huge file', { path: 'huge.txt' }, /it has 61441 bytes; at most 61440 are read/],
    ['the skill of another agent', { name: 'legal-terms' }, /There is no skill "legal-terms"; the skills are: refund/],
  ])('do not give out %s', async (_what, args, message) => {
    const text = await read({ name: 'refund', ...args });
    expect(text).toMatch(/^Error: /);
    expect(text).toMatch(message);
    expect(text).not.toContain('a secret');
    expect(text).not.toContain(folder.outside);
  });

  it('are listed without their texts', async () => {
    const { body } = await jackdaw.get('/api/skills');
    expect(body['skills']).toEqual([
      { name: 'legal-privacy', description: 'Writes privacy notices.', agents: ['lawyer'] },
      { name: 'legal-terms', description: 'Writes terms.', agents: ['lawyer'] },
      {
        name: 'refund',
        description: LONG.trim(),
        license: 'MIT',
        metadata: { author: 'desk' },
        agents: ['clerk', 'reader'],
      },
    ]);
    expect((await jackdaw.get('/api/agents/lawyer')).body['skills']).toEqual(['legal-privacy', 'legal-terms']);
  });

  it('appear in health if they are broken, with file and line, and do not fail the start', async () => {
    const { status, body } = await jackdaw.get('/api/agent/health');
    expect([status, body]).toMatchObject([200, { status: 'ok' }]);
    const { skill_files: state } = body['info'] as unknown as Record<string, Record<string, unknown>>;
    expect(state).toMatchObject({ status: 'up', files: 5, broken: 2 });
    expect(state!['mistakes']).toEqual([
      expect.stringMatching(/broken\/SKILL\.md:[34]: the front matter is not YAML: /),
      `${join(folder.path, 'elsewhere/SKILL.md')}:1: it leads out of the folder`,
    ]);
  });

  it('change for the next run with their files; a running run has its prompt and reads the new text', async () => {
    const { opened, open } = gate();
    llm.reset();
    llm.reply({ gate: opened, calls: [{ name: 'read_skill', arguments: { name: 'legal-terms' } }] });
    llm.always({ text: 'done' });
    const running = jackdaw.chat({ query: 'x', agent: 'lawyer' });
    await llm.waitForRequest();
    folder.write('legal-terms/SKILL.md', skill('legal-terms', 'Writes better terms.', 'Be brief.'));
    folder.write('legal-new/SKILL.md', skill('legal-new', 'Is new.'));
    const names = (body: Record<string, never>) => JSON.stringify(body);
    await untilAnswered(
      jackdaw,
      '/api/skills',
      (body) => /better terms.*/.test(names(body)) && /Is new/.test(names(body)),
    );
    open();
    expect((await running).body['result']).toBe('done');
    expect(system()).toContain('- legal-terms: Writes terms.');
    expect(system()).not.toContain('legal-new');
    expect(llm.lastRequest.messages.at(-1)?.content).toBe('Be brief.');
    await ask('lawyer');
    expect(system()).toContain('- legal-new: Is new.\n');
    expect(system()).toContain('- legal-terms: Writes better terms.');
    rmSync(join(folder.path, 'legal-new'), { recursive: true });
    await untilAnswered(jackdaw, '/api/skills', (body) => !names(body).includes('legal-new'));
    folder.write('legal-terms/SKILL.md', 'no front matter');
    const health = await untilAnswered(
      jackdaw,
      '/api/agent/health',
      ({ info }) => info?.['skill_files']?.['broken'] === 3,
    );
    expect(JSON.stringify(health)).toContain('legal-terms/SKILL.md:1: expected front matter');
    await ask('lawyer');
    expect(system()).toContain('- legal-terms: Writes better terms.');
  });
});

describe('an agent that names an unknown skill', () => {
  it('fails the start, with a similar name', async () => {
    const folder = new AgentFolder();
    folder.write('refund/SKILL.md', skill('refund', 'Refunds.'));
    const agents = [{ name: 'clerk', model: { provider: 'offline' }, skills: ['refunds'] }];
    const starting = startJackdaw({ options: { agents, skillsDir: folder.path } });
    await expect(starting).rejects.toThrow(/There is no skill "refunds"\. Did you mean "refund"\?/);
    folder.dispose();
  });

  it('fails the start for a folder that does not exist', async () => {
    const starting = startJackdaw({ options: { skillsDir: '/nowhere/skills' } });
    await expect(starting).rejects.toThrow(/skillsDir: there is no folder "\/nowhere\/skills"/);
  });
});

describe('an agent in code', () => {
  it.each([
    ['all skills of its folder by default', {}, ['legal', 'refund'], /^The rules of refund\.$/],
    ['those that it names', { skills: ['ref*'] }, ['refund'], /^The rules of refund\.$/],
    ['none without a folder', { skillsDir: false as const }, [], /^Error: Unknown tool/],
  ])('has %s', async (_what, options, names, result) => {
    const folder = new AgentFolder();
    const host = new AgentHost();
    for (const name of ['refund', 'legal']) folder.write(`${name}/SKILL.md`, skill(name, `Does ${name}.`));
    const model = new ScriptedChatModel([calls(['read_skill', { name: 'refund' }]), says('done')]);
    const agent = await host.start({ chatModel: model, skillsDir: folder.path, ...options });
    await agent.chat('x');
    const [system] = model.requests[0]!.messages;
    const prompt = system?.role === 'system' ? system.content : '';
    expect([...prompt.matchAll(/^- (\w+): /gm)].map(([, name]) => name)).toEqual(names);
    expect(model.requests[1]!.messages.at(-1)!.content).toMatch(result);
    await host.stop();
    folder.dispose();
  });
});
