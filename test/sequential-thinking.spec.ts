import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { ToolRegistry } from '../src/tool/index.js';
import { callTool } from './support/direct-calls.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { loadReference, ThinkingServer } from './support/thinking-reference.js';

const TOOL = 'sequentialthinking';
type Arguments = Readonly<Record<string, unknown>>;

let llm: FakeLlm;
let jackdaw: Jackdaw;

beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({ llm, env: { BUILTIN_TOOLS: TOOL } });
});
beforeEach(() => llm.reset());
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

const FIRST = { thought: 'One', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 3 };
const then = (thoughtNumber: number, more: Arguments = {}) => ({
  ...FIRST,
  thought: `No. ${thoughtNumber}`,
  thoughtNumber,
  ...more,
});

/** Sequences of thoughts, each with its subject. */
const SEQUENCES: readonly [string, readonly Arguments[]][] = [
  ['consecutive thoughts', [FIRST, then(2), then(3, { nextThoughtNeeded: false })]],
  ['more thoughts than expected', [FIRST, then(5), then(4, { totalThoughts: 9, needsMoreThoughts: true }), then(2)]],
  ['a revision', [FIRST, then(2), then(3, { isRevision: true, revisesThought: 1 }), then(4, { isRevision: true })]],
  [
    'branches',
    [
      FIRST,
      then(2, { branchFromThought: 1, branchId: 'b' }),
      then(3, { branchFromThought: 1, branchId: 'a' }),
      then(3, { branchFromThought: 2, branchId: 'b' }),
      then(4, { branchFromThought: 1 }),
      then(4, { branchId: 'nowhere' }),
      then(4, { branchFromThought: 1, branchId: '' }),
    ],
  ],
  [
    'branches with numeric names',
    ['10', 'x', '2', '02', '-1', '1'].map((branchId) => then(1, { branchFromThought: 1, branchId })),
  ],
];

/** Names that every object has are excluded: the public server cannot start a branch with such a name. */
const branchName = fc
  .oneof(fc.string(), fc.nat(20).map(String), fc.constantFrom('a', 'b', 'main'))
  .filter((name) => !(name in {}));
const count = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }));
const thought = fc.record(
  {
    thought: fc.string({ unit: 'binary' }),
    nextThoughtNeeded: fc.boolean(),
    thoughtNumber: count,
    totalThoughts: count,
    isRevision: fc.boolean(),
    revisesThought: count,
    branchFromThought: count,
    branchId: branchName,
    needsMoreThoughts: fc.boolean(),
  },
  { requiredKeys: ['thought', 'nextThoughtNeeded', 'thoughtNumber', 'totalThoughts'] },
);

function think(args: Arguments, sessionId: string): Promise<unknown> {
  return jackdaw.app.get(ToolRegistry).call(TOOL, args, { sessionId });
}

describe('sequentialthinking beside the public server', () => {
  let newReference: Awaited<ReturnType<typeof loadReference>>;
  let server: ThinkingServer;

  const theirs = (sequence: readonly Arguments[]): string[] => {
    const reference = newReference();
    return sequence.map((args) => reference.processThought({ ...args }).content[0]!.text);
  };
  const ours = async (sequence: readonly Arguments[]): Promise<string[]> => {
    const session = randomUUID();
    const texts: string[] = [];
    for (const args of sequence) texts.push(JSON.stringify(await think(args, session), null, 2));
    return texts;
  };

  beforeAll(async () => {
    newReference = await loadReference();
    server = await ThinkingServer.start();
  });
  afterAll(() => server.stop());

  it.each(SEQUENCES)('answers the same: %s', async (_about, sequence) => {
    expect(await ours(sequence)).toEqual(theirs(sequence));
  });

  it('answers the same to any sequence', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(thought, { minLength: 1, maxLength: 15 }), async (sequence) => {
        expect(await ours(sequence)).toEqual(theirs(sequence));
      }),
      { numRuns: 200 },
    );
  });

  it('accepts the same arguments, by the same names, and returns the same fields', async () => {
    const { definition } = jackdaw.app.get(ToolRegistry).get(TOOL);
    const reference = await server.definition();
    expect(definition.name).toBe(reference.name);
    for (const schema of ['inputSchema', 'outputSchema'] as const) {
      const own = definition[schema] as { properties: object; required: string[] };
      expect(Object.keys(own.properties)).toEqual(Object.keys(reference[schema].properties));
      expect(own.required).toEqual(reference[schema].required);
    }
  });

  it('reads numbers and flags that models write as text, refuses the same, and counts no refused thought', async () => {
    const session = randomUUID();
    const sequence: readonly Arguments[] = [
      { ...FIRST, thoughtNumber: '2', totalThoughts: '1', nextThoughtNeeded: 'False' },
      { ...FIRST, isRevision: 'true', revisesThought: '1', needsMoreThoughts: 'false' },
      { ...FIRST, branchFromThought: '1', branchId: '7' },
      ...['thought', 'nextThoughtNeeded', 'thoughtNumber', 'totalThoughts'].map((missing) => ({
        ...FIRST,
        [missing]: undefined,
      })),
      ...[0, -1, 1.5, 'two', '', null, 2 ** 60].map((thoughtNumber) => ({ ...FIRST, thoughtNumber })),
      ...['yes', '', null, 1].map((nextThoughtNeeded) => ({ ...FIRST, nextThoughtNeeded })),
      ...[5, null, ['a']].map((said) => ({ ...FIRST, thought: said })),
      { ...FIRST, branchFromThought: 0, branchId: 'x' },
      { ...FIRST, branchId: 5 },
      then(2),
    ];
    const answers: unknown[] = [];
    const expected: unknown[] = [];
    for (const args of sequence) {
      const { structuredContent, isError = false } = await server.call(args);
      const { body } = await callRaw(args, session);
      answers.push({ args, answer: body['code'] ?? body['result'] });
      expected.push({ args, answer: isError ? 'TOOL_INVALID_ARGUMENTS' : structuredContent });
    }
    expect(answers).toEqual(expected);
  });

  it('accepts a branch name that every object has', async () => {
    const session = randomUUID();
    for (const [place, branchId] of ['constructor', '__proto__', 'constructor'].entries())
      expect(await think({ ...FIRST, branchFromThought: 1, branchId }, session)).toMatchObject({
        branches: ['constructor', '__proto__'].slice(0, place + 1),
        thoughtHistoryLength: place + 1,
      });
  });

  it('refuses an unknown argument', async () => {
    await expect(think({ ...FIRST, branch_id: 'a' }, randomUUID())).rejects.toMatchObject({
      code: 'TOOL_INVALID_ARGUMENTS',
    });
  });

  async function callRaw(args: Arguments, sessionId: string) {
    await jackdaw.post('/api/sessions', { id: sessionId });
    const { body } = await callTool(jackdaw, TOOL, { arguments: args, sessionId });
    return { body };
  }
});

describe('thoughts in a session', () => {
  async function chat(on: Jackdaw, sessionId: string | undefined, ...thoughts: readonly Arguments[]): Promise<unknown> {
    const calls = thoughts.map((args) => ({ calls: [{ name: TOOL, arguments: args }] }));
    llm.reply(...calls, { text: 'thought over' });
    const { body } = await on.post('/api/agent/chat', {
      query: 'think',
      includeDetails: true,
      ...(sessionId !== undefined && { sessionId }),
    });
    return (body['tool_results'] as unknown as { result: unknown }[]).map(({ result }) => result);
  }

  it('continue from one chat to the next, and are in no other session', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    const branch = then(2, { branchFromThought: 1, branchId: 'x' });
    expect(await chat(jackdaw, one, FIRST, branch)).toMatchObject([{ thoughtHistoryLength: 1 }, { branches: ['x'] }]);
    expect(await chat(jackdaw, other, FIRST)).toMatchObject([{ thoughtHistoryLength: 1, branches: [] }]);
    expect(await chat(jackdaw, one, then(3))).toMatchObject([{ thoughtHistoryLength: 3, branches: ['x'] }]);
  });

  it('outlive the process with a persistent manager', async () => {
    const dataDir = newFolder();
    const session = randomUUID();
    for (const already of [0, 2]) {
      const server = await startJackdaw({
        llm,
        dataDir,
        env: { TOOL_STATE_MANAGER: 'persistent', BUILTIN_TOOLS: TOOL },
      });
      expect(await chat(server, session, FIRST, then(2))).toMatchObject([
        { thoughtHistoryLength: already + 1 },
        { thoughtHistoryLength: already + 2 },
      ]);
      await server.stop();
    }
  });

  it('are bounded: the oldest are counted only', async () => {
    const session = randomUUID();
    const long = 'x'.repeat(30_000);
    for (let n = 1; n <= 5; n++) await think({ ...then(n), thought: `${n}${long}` }, session);
    expect(await stored(session)).toMatchObject({
      count: 5,
      thoughts: [{ thoughtNumber: 3 }, { thoughtNumber: 4 }, { thoughtNumber: 5 }],
    });
    await think(then(6, { thought: 'y'.repeat(200_000) }), session);
    expect(await stored(session)).toMatchObject({ count: 6, thoughts: [{ thoughtNumber: 6 }] });
  });

  async function stored(session: string): Promise<unknown> {
    const { ToolStates, contextIdOf } = await import('../src/tool-state/index.js');
    const manager = await jackdaw.app.get(ToolStates).managerOf(jackdaw.app.get(ToolRegistry).get(TOOL));
    return (await manager.getState(contextIdOf({ tenant: 'default', session, tool: TOOL }), 'business'))?.data;
  }
});
