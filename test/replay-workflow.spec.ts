import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Tool, type WorkflowInput } from '../src/index.js';
import { parseExportedRun, type ReplayCheck, replayRun } from '../src/run/replay/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

type Node = WorkflowInput['nodes'][number];

const SHIP: Node = { id: 'ship', type: 'tool', tool: 'ship', arguments: { id: '{{input.id}}' } };
const JUDGE: Node = { id: 'judge', type: 'llm', prompt: 'Is it good? {{ship.result}}', after: ['ship'] };
const ROUTE: Node = {
  id: 'route',
  type: 'branch',
  after: ['judge'],
  cases: [{ when: { value: '{{judge.response}}', contains: 'yes' }, to: 'report' }],
  otherwise: 'each',
};
const REPORT: Node = { id: 'report', type: 'llm', prompt: 'Report on {{ship.result}}' };
const EACH: Node = {
  id: 'each',
  type: 'map',
  over: '{{input.others}}',
  node: { type: 'tool', tool: 'ship', arguments: { id: '{{item}}' } },
};
const ASK: Node = { id: 'ask', type: 'agent', agent: 'default', message: 'Thank for {{ship.result}}', after: ['ship'] };
const NODES = [SHIP, JUDGE, ROUTE, REPORT, EACH, ASK];

function changed(node: Node, changes: object): readonly Node[] {
  return NODES.map((one) => (one === node ? { ...one, ...changes } : one));
}

let llm: FakeLlm;
let shipped: string[];
let opened: Jackdaw[];
let source: Jackdaw;

/** @param limit default of an argument of the tool */
function toolsWith(limit: number): object[] {
  class Tools {
    @Tool({
      description: 'Ships an order.',
      effect: 'idempotent',
      input: z.object({ id: z.string(), limit: z.number().default(limit) }),
    })
    ship({ id }: { readonly id: string }): string {
      shipped.push(id);
      return `shipped ${id}`;
    }
  }
  let attempts = 0;
  class Flaky {
    @Tool({
      description: 'Ships an order at the second attempt.',
      effect: 'idempotent',
      input: z.object({ id: z.string() }),
    })
    flaky({ id }: { readonly id: string }): string {
      if (++attempts === 1) throw new Error('The carrier does not answer.');
      return `shipped ${id}`;
    }
  }
  return [new Tools(), new Flaky()];
}

async function open(nodes: readonly Node[] = NODES, limit = 10): Promise<Jackdaw> {
  const workflows = nodes.length > 0 ? [{ name: 'order', nodes: [...nodes] }] : [];
  const jackdaw = await startJackdaw({ llm, tools: toolsWith(limit), options: { workflows } });
  opened.push(jackdaw);
  return jackdaw;
}

/** Runs the workflow at the source, and exports the run. @param verdict the reply to `judge` */
async function record(verdict: string): Promise<string> {
  llm.always(({ messages }) => ({ text: JSON.stringify(messages).includes('good') ? verdict : 'It is shipped.' }));
  const input = { id: 'o-1', others: ['o-2', 'o-3'] };
  const { body } = await source.post('/api/workflows/order/runs', { input, wait: true });
  expect(body).toMatchObject({ status: 'completed' });
  return (await source.get(`/api/runs/${String(body['run_id'])}/export`)).text;
}

/** Checks that no model and no tool is called. */
async function check(jackdaw: Jackdaw, exported: string): Promise<ReplayCheck> {
  const before = [llm.requests.length, shipped.length];
  const outcome = await replayRun(jackdaw.app, parseExportedRun(exported));
  expect([llm.requests.length, shipped.length]).toEqual(before);
  return outcome;
}

beforeAll(async () => {
  [shipped, opened] = [[], []];
  llm = await FakeLlm.start();
  source = await open();
  opened = [];
});
afterEach(async () => {
  for (const jackdaw of opened) await jackdaw.stop();
  opened = [];
  llm.reset();
});
afterAll(async () => {
  await source.stop();
  await llm.close();
});

describe('a replay check of a workflow', () => {
  it('finds no difference with the same code, on each branch', async () => {
    const other = await open();
    for (const verdict of ['yes', 'no']) {
      const text = await record(verdict);
      expect([verdict, await check(source, text)]).toMatchObject([
        verdict,
        { status: 'same', agent: 'workflow:order' },
      ]);
      expect([verdict, await check(other, text)]).toMatchObject([verdict, { status: 'same' }]);
    }
  });

  it('finds none in a run with an approval and a repeated attempt', async () => {
    const retried = { ...SHIP, tool: 'flaky', retry: { attempts: 2, delayMs: 1 }, after: ['allow'] } as Node;
    const nodes: Node[] = [{ id: 'allow', type: 'human', asks: 'approval', question: 'Ship {{input.id}}?' }, retried];
    const server = await open(nodes);
    const { body } = await server.post('/api/workflows/order/runs', { input: { id: 'o-1' }, wait: true });
    const runId = String(body['run_id']);
    await server.post(`/api/runs/${runId}/approve`, {});
    expect(await server.events(runId)).toMatchObject({ length: expect.any(Number) as number });
    const { text } = await server.get(`/api/runs/${runId}/export`);
    expect(parseExportedRun(text)).toMatchObject({ status: 'completed' });
    expect(await check(server, text)).toMatchObject({ status: 'same' });
  });

  it.each<[string, readonly Node[], object]>([
    [
      'the arguments of a tool',
      changed(SHIP, { arguments: { id: 'x' } }),
      { step: 'tool:1/ship:1', kind: 'call', changes: [{ path: 'arguments.id', expected: 'o-1', actual: 'x' }] },
    ],
    [
      'the prompt of a model',
      changed(REPORT, { prompt: 'Report all' }),
      { step: 'model:4/report', kind: 'request', changes: [{ path: 'messages[0].content', actual: 'Report all' }] },
    ],
    [
      'the question to an agent',
      changed(ASK, { message: 'Thank' }),
      { step: 'node:ask', kind: 'request', changes: [{ path: 'input.query', actual: 'Thank' }] },
    ],
    [
      'the condition of a branch',
      changed(ROUTE, { cases: [{ when: { value: 'a', equals: 'b' }, to: 'report' }] }),
      { step: 'node:route', kind: 'result' },
    ],
    ['a lost node', NODES.slice(0, -1), { step: 'node:ask', kind: 'unused' }],
    [
      'a new node',
      [...NODES, { ...SHIP, id: 'again' }],
      { step: expect.stringContaining(':7/again') as string, kind: 'missing' },
    ],
    ['a lost workflow', [], { step: 'start', kind: 'agent' }],
  ])('finds a change of %s', async (_change, nodes, divergence) => {
    const text = await record('yes');
    expect(await check(await open(nodes), text)).toMatchObject({ status: 'diverged', divergence });
  });

  it('finds a change of the tool of a map', async () => {
    const text = await record('no');
    expect(await check(await open(NODES, 20), text)).toMatchObject({
      status: 'diverged',
      divergence: { kind: 'call' },
    });
  });

  it('does not check a run that has not completed', async () => {
    llm.always({ status: 401 });
    const { body } = await source.post('/api/workflows/order/runs', { input: { id: 'o-1', others: [] }, wait: true });
    const { text } = await source.get(`/api/runs/${String(body['run_id'])}/export`);
    expect(await check(source, text)).toMatchObject({
      status: 'unsupported',
      reason: 'The workflow has not completed: its status is failed.',
    });
  });
});
