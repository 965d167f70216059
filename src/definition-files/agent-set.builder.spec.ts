import { afterAll, describe, expect, it } from 'vitest';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentDefinitionSchema } from '../agent/definition/index.js';
import { buildAgentSet } from './agent-set.builder.js';
import type { AgentSet, AgentWorld } from './placed-agents.registry.js';
import { DefinitionFolder } from './files/definition-folder.explorer.js';
import { readFolderDrafts } from './folder-draft.loader.js';

const LLM = '<llm api-type="openai" model="m"/>';
const all = mkdtempSync(join(tmpdir(), 'jackdaw-set-'));
let count = 0;

const inCode = agentDefinitionSchema.parse({
  name: 'default',
  instructions: 'Be brief.',
  model: { provider: 'openai', name: 'gpt' },
  limits: { maxIterations: 4 },
});

const world: AgentWorld = {
  names: ['default', 'desk'],
  declared: (name) => {
    if (name === 'default') return { definition: inCode, source: 'the environment' };
    return name === 'desk' ? { definition: { ...inCode, name }, source: 'agents[0]' } : undefined;
  },
  mayReplace: ({ source }) => source === 'the environment',
  faults: ({ subAgents = [], mcpServers = [] }, names) => [
    ...subAgents.flatMap((name, at) =>
      names.includes(name) ? [] : [{ path: ['subAgents', at], message: `no agent ${name}` }],
    ),
    ...mcpServers.flatMap((one, at) =>
      (typeof one === 'string' ? one : one.name) === 'web' ? [] : [{ path: ['mcpServers', at], message: 'no server' }],
    ),
  ],
};

type Files = Readonly<Record<string, string>>;

/** Agents of a new folder with these files. @param before the previous set, for reuse of its agents */
async function setOf(files: Files, before?: AgentSet, env: Files = {}): Promise<AgentSet & { lines: string[] }> {
  const path = join(all, String(count++));
  mkdirSync(join(path, 'prompts'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  const found = await readFolderDrafts(new DefinitionFolder(path), env);
  const shorter = new Map([...found!.drafts].map(([file, draft]) => [file.slice(path.length + 1), draft]));
  const set = buildAgentSet(shorter, before?.agents ?? new Map(), world);
  return { ...set, lines: [...set.mistakes.values()].flat().map((line) => line.replaceAll(`${path}/`, '')) };
}

function agentsOf({ agents }: AgentSet): Record<string, string> {
  return Object.fromEntries([...agents].map(([file, { name, input }]) => [file, `${name}: ${input.instructions}`]));
}

const agent = (name: string, more = '', inner = LLM) => `<agent name="${name}" ${more}>${inner}</agent>`;
const agentWith = (name: string, prompt: string, more = '') => agent(name, more, `${LLM}<prompt>${prompt}</prompt>`);

afterAll(() => rmSync(all, { recursive: true }));

describe('the agents of a folder', () => {
  it('come from its XML and JSON files', async () => {
    const json = {
      $schema: 'agent.schema.json',
      name: 'b',
      env: ['WHO'],
      instructions: 'Help ${WHO} with $${this}.',
      model: { provider: 'openai' },
      tools: ['calculator'],
    };
    const files = {
      'a.xml': agentWith('a', 'A'),
      'b.json': JSON.stringify(json),
      'c.txt': 'no agent',
      '.d.xml': 'swapped',
    };
    const set = await setOf(files, undefined, { WHO: 'us' });
    expect(set.lines).toEqual([]);
    expect(agentsOf(set)).toEqual({ 'a.xml': 'a: A', 'b.json': 'b: Help us with ${this}.' });
    expect(set.agents.get('b.json')!.input.tools).toEqual(['calculator']);
  });

  it('can include files of the folder from JSON, too', async () => {
    const json = {
      name: 'a',
      model: { provider: 'openai' },
      instructions: { src: 'prompts/a.md' },
      responseFormat: { name: 'x', schema: { src: 'prompts/x.json' } },
    };
    const files = {
      'a.json': JSON.stringify(json),
      'prompts/a.md': 'Be ${kind}.\n',
      'prompts/x.json': '{"type":"object"}',
    };
    const whole = await setOf(files);
    expect(whole.lines).toEqual([]);
    const { input } = whole.agents.get('a.json')!;
    expect(input).toMatchObject({ instructions: 'Be ${kind}.', responseFormat: { schema: { type: 'object' } } });
    const broken = await setOf({ 'a.json': JSON.stringify(json, null, 1), 'prompts/x.json': '{' });
    expect(broken.lines).toEqual([
      'a.json:7:3: instructions.src: there is no such file in the folder',
      'a.json:11:3: responseFormat.schema: expected JSON',
    ]);
  });

  it('can extend one another across files, and agents in code', async () => {
    const set = await setOf({
      'a.xml': agent('a', 'extends="b"', '<limits max-depth="0"/>'),
      'b.json': '{"name": "b", "extends": "c", "limits": {"maxIterations": 2}}',
      'c.xml': agent('c', 'extends="desk"', '<description>C</description>'),
    });
    expect(set.lines).toEqual([]);
    expect(set.agents.get('a.xml')!.input).toMatchObject({
      name: 'a',
      description: 'C',
      instructions: 'Be brief.',
      limits: { maxIterations: 2, maxDepth: 0 },
    });
  });

  it('may replace the agent of the environment, and extend it', async () => {
    const set = await setOf({ 'a.xml': agent('default', 'extends="default"', '<limits max-depth="0"/>') });
    expect(agentsOf(set)).toEqual({ 'a.xml': 'default: Be brief.' });
    expect((await setOf({ 'a.xml': agent('desk') })).lines).toEqual([
      'a.xml:1:8: there are two agents named "desk", here and in agents[0]: rename one',
    ]);
  });
});

describe('mistakes in files', () => {
  it('are all reported at once, with positions', async () => {
    const { lines, agents } = await setOf({
      'a.xml': '<agent nam="a"/>',
      'b.json':
        '{\n "name": "b",\n "model": {"provider": "openai", "nam": "x"},\n "limit": 3,\n "limits": {"maxIterations": 0}\n}',
      'c.json': '{"name": "c",\n "env": "A", "mcpServers": ["web", 7], "model": {"provider": "p"}, "protocol": "${B}"}',
      'd.xml': agent('d', 'extends="dd"', '<mcp-server name="wen"/>'),
      'e.xml': agent('e', '', `${LLM}<mcp-server name="wen"/>\n<sub-agent name="unknown"/>`),
      'f.json': '[]',
      'g.json': '{"name": "g"}',
      'h.xml': agent('e'),
    });
    expect(agents.size).toBe(0);
    expect(lines.map((line) => line.replace(/(Too small|Unrecog|; did).*/, '$1'))).toEqual([
      'a.xml:1:8: <agent> has no attribute nam; did',
      'a.xml:1:1: <agent> expects the attribute name',
      'b.json:3:34: there is no field model.nam; did',
      'b.json:5:13: limits.maxIterations: Too small',
      'b.json:4:2: there is no field limit; did',
      'c.json:2:2: env: expected a list of names of variables',
      'c.json:2:68: protocol: ${B} is not declared: name it in env, or write $${B} for the text itself',
      'd.xml:1:17: extends "dd": there is no such agent; did',
      'e.xml:2:12: no agent unknown',
      'e.xml:1:52: no server',
      'f.json:1:1: expected an object: { "name": "…", … }',
      'g.json:1:1: expected a model: "model": { "provider": "…", "name": "…" }',
      'h.xml:1:8: there are two agents named "e", here and in e.xml:1:8: rename one',
    ]);
  });

  it('are reported in short lines for any content', async () => {
    const long = 'x'.repeat(500_000);
    const fields = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`f${n}`, n]));
    const { lines } = await setOf({
      'a.xml': agent(long),
      'b.xml': agent('b', `extends="${long}"`),
      'c.json': JSON.stringify({ name: 'c', model: { provider: 'p', [long]: 1 }, mcpServers: [long] }),
      'd.json': JSON.stringify({ name: 'd', model: { provider: 'p' }, ...fields }),
    });
    expect(lines[0]).toBe('a.xml:1:8: the name has 500000 characters; expected 1 to 128');
    expect([lines.length, lines.filter((line) => line.length > 600)]).toEqual([1 + 1 + 1 + 100, []]);
  });

  it('include the whole cycle of agents that extend one another', async () => {
    const { lines } = await setOf({
      'a.xml': agent('a', 'extends="b"'),
      'b.xml': agent('b', 'extends="c"'),
      'c.xml': agent('c', 'extends="a"'),
      'd.xml': agent('d', 'extends="d"'),
      'e.xml': agent('e', 'extends="a"'),
    });
    expect(lines).toEqual([
      'a.xml:1:17: extends "b": a circle: a extends b extends c extends a',
      'b.xml:1:17: extends "c": a circle: b extends c extends a extends b',
      'c.xml:1:17: extends "a": a circle: c extends a extends b extends c',
      'd.xml:1:17: extends "d": a circle: d extends d',
      'e.xml:1:17: extends "a": the agent at a.xml:1:8 has mistakes',
    ]);
  });

  it('leave the previous agent of the file in place, also for agents that extend it', async () => {
    const first = await setOf({ 'a.xml': agentWith('a', 'old'), 'b.xml': agent('b', 'extends="a"', '') });
    for (const broken of [
      '<agent',
      agentWith('a', 'new').replace('model="m"', 'seed="no"'),
      agent('a', 'extends="gone"'),
    ]) {
      const next = await setOf(
        { 'a.xml': broken, 'b.xml': agent('b', 'extends="a"', '<limits max-depth="0"/>') },
        first,
      );
      expect([...next.mistakes.keys()]).toEqual(['a.xml']);
      expect(agentsOf(next)).toEqual({ 'a.xml': 'a: old', 'b.xml': 'b: old' });
      expect(next.agents.get('b.xml')!.input.limits).toEqual({ maxDepth: 0 });
    }
    const gone = await setOf({ 'b.xml': agent('b', 'extends="a"', '') }, first);
    expect([agentsOf(gone), gone.lines.length]).toEqual([{ 'b.xml': 'b: old' }, 1]);
  });

  it('include a sub-agent that is missing or was never valid', async () => {
    const desk = agent('a', '', `${LLM}<sub-agent name="b"/>`);
    const first = await setOf({ 'a.xml': desk, 'b.xml': agent('b') });
    expect(first.lines).toEqual([]);
    expect((await setOf({ 'a.xml': desk }, first)).lines).toEqual(['a.xml:1:63: no agent b']);
    expect((await setOf({ 'a.xml': desk, 'b.xml': '<agent' }, first)).mistakes.size).toBe(1);
    expect((await setOf({ 'a.xml': desk, 'b.xml': '<agent' })).mistakes.size).toBe(2);
  });

  it('leave a duplicate name with its previous file; two files may exchange names', async () => {
    const first = await setOf({ 'a.xml': agentWith('x', '1'), 'b.xml': agentWith('y', '2') });
    const exchanged = await setOf({ 'a.xml': agentWith('y', '1'), 'b.xml': agentWith('x', '2') }, first);
    expect(agentsOf(exchanged)).toEqual({ 'a.xml': 'y: 1', 'b.xml': 'x: 2' });
    const taken = await setOf(
      { 'a.xml': agentWith('y', '1'), 'b.xml': agentWith('y', '2'), 'c.xml': agentWith('x', '3') },
      first,
    );
    expect(agentsOf(taken)).toEqual({ 'a.xml': 'x: 1', 'b.xml': 'y: 2' });
    expect([...taken.mistakes.keys()].toSorted()).toEqual(['a.xml', 'c.xml']);
    const moved = await setOf({ 'c.xml': agentWith('x', '1'), 'b.xml': agentWith('y', '2') }, first);
    expect(agentsOf(moved)).toEqual({ 'b.xml': 'y: 2', 'c.xml': 'x: 1' });
  });
});
