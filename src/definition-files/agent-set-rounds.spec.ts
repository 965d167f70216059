import { describe, expect, it } from 'vitest';
import {
  array,
  assert,
  type Arbitrary,
  constant,
  constantFrom,
  dictionary,
  jsonValue,
  oneof,
  option,
  property,
  record,
  uniqueArray,
} from 'fast-check';
import { agentDefinitionSchema, AgentRegistry, ENVIRONMENT } from '../agent/definition/index.js';
import { buildAgentSet } from './agent-set.builder.js';
import { type AgentSet, type AgentWorld, PlacedAgents } from './placed-agents.registry.js';
import type { DraftReading } from './definition/definition.parser.js';
import { readAgentText } from './folder-draft.loader.js';

const model = { provider: 'offline' };
const NAMES = ['a', 'b', 'c', 'default', 'desk'];
const FILES = ['1.json', '2.json', '3.json', '4.json'];

interface Content {
  readonly name: string;
  readonly extends?: string | undefined;
  readonly subAgents?: string[] | undefined;
  readonly limits?: object | undefined;
}

const name = constantFrom(...NAMES);
const content: Arbitrary<Content | null> = option(
  record({
    name,
    extends: option(name, { nil: undefined }),
    subAgents: option(uniqueArray(name, { maxLength: 2 }), { nil: undefined }),
    limits: constantFrom(undefined, { maxDepth: 1 }, { maxDepth: 2 }, { maxDepth: 'x' }),
  }),
  { freq: 6 },
);
/** The files of a round and their contents; `null` is invalid JSON. */
const round = dictionary(constantFrom(...FILES), content, { maxKeys: FILES.length });

function readingsOf(files: Readonly<Record<string, unknown>>): Map<string, DraftReading> {
  const include = () => 'included';
  return new Map(
    Object.keys(files)
      .toSorted()
      .map((file) => {
        const said = files[file];
        const text = said === null ? '{' : JSON.stringify({ ...(said as object), model });
        return [file, readAgentText({ file, text, env: {}, include })];
      }),
  );
}

function newWorld(): { registry: AgentRegistry; placed: PlacedAgents; world: () => AgentWorld } {
  const registry = new AgentRegistry((definition) => definition);
  registry.register({ name: 'default', model }, ENVIRONMENT);
  registry.register({ name: 'desk', model }, 'agents[0]');
  const placed = new PlacedAgents(registry);
  const world = (): AgentWorld => ({
    names: placed.namesInCode(),
    declared: (one) => placed.declaredInCode(one),
    mayReplace: ({ source }) => source === ENVIRONMENT,
    faults: ({ subAgents = [] }, names) =>
      subAgents.flatMap((one, at) => (names.includes(one) ? [] : [{ path: ['subAgents', at], message: one }])),
  });
  return { registry, placed, world };
}

describe('repeated changes of the files', () => {
  it('give every file its agent, its previous one or none, and register exactly these agents', () => {
    assert(
      property(array(round, { minLength: 1, maxLength: 6 }), (rounds) => {
        const { registry, placed, world } = newWorld();
        let before: AgentSet = { agents: new Map(), mistakes: new Map() };
        for (const files of rounds) {
          const set = buildAgentSet(readingsOf(files), before.agents, world());
          placed.place(set.agents);
          expectSound(files, set, before);
          expectPlaced(set, registry);
          before = set;
        }
        placed.place(new Map());
        expect(registry.names()).toEqual(['default', 'desk']);
        expect(registry.declared('default')?.source).toBe(ENVIRONMENT);
      }),
      { numRuns: 400 },
    );
  });

  it('have the same result for the same valid files, whatever the previous files', () => {
    assert(
      property(round, round, (first, second) => {
        const { world } = newWorld();
        const before = buildAgentSet(readingsOf(first), new Map(), world());
        const fresh = buildAgentSet(readingsOf(second), new Map(), world());
        const later = buildAgentSet(readingsOf(second), before.agents, world());
        const isWhole = fresh.mistakes.size === 0;
        expect(isWhole ? later : null).toEqual(isWhole ? fresh : null);
      }),
      { numRuns: 400 },
    );
  });
});

function expectSound(files: Readonly<Record<string, Content | null>>, set: AgentSet, before: AgentSet): void {
  const names = [...set.agents.values()].map((agent) => agent.name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).not.toContain('desk');
  for (const file of Object.keys(files)) {
    const agent = set.agents.get(file);
    const isBroken = set.mistakes.has(file);
    expect(agent?.name).toBe(isBroken ? before.agents.get(file)?.name : files[file]?.name);
    expect(isBroken ? agent : null).toEqual(isBroken ? before.agents.get(file) : null);
  }
  expect([...set.agents.keys()].filter((file) => !(file in files))).toEqual([]);
}

function expectPlaced({ agents }: AgentSet, registry: AgentRegistry): void {
  const names = [...agents.values()].map((agent) => agent.name);
  expect(registry.names().toSorted()).toEqual([...new Set(['default', 'desk', ...names])].toSorted());
  expect(registry.names().slice(0, 2)).toEqual(['default', 'desk']);
  for (const { name: one, input } of agents.values()) {
    expect(registry.declared(one)?.definition).toEqual(agentDefinitionSchema.parse(input));
  }
}

const KEYS = ['$schema', 'env', 'extends', 'name', ...Object.keys(agentDefinitionSchema.shape)];
const odd = oneof(jsonValue(), constantFrom<unknown>({ src: 'x' }, { '~standard': {} }, '${A}', '*'), constant(['*']));

describe('a JSON file with arbitrary fields', () => {
  it('defines an agent or has mistakes, each with its position', () => {
    assert(
      property(dictionary(constantFrom(...KEYS), odd), (fields) => {
        const text = JSON.stringify({ name: 'a', ...fields });
        const { world } = newWorld();
        const reading = readAgentText({ file: 'a.json', text, env: {}, include: () => '{' });
        const set = buildAgentSet(new Map([['a.json', reading]]), new Map(), world());
        expect(set.agents.size + set.mistakes.size).toBe(1);
        for (const line of set.mistakes.get('a.json') ?? []) expect(line).toMatch(/^a\.json:1:\d+: /);
      }),
      { numRuns: 1_000 },
    );
  });
});
