import { beforeEach, describe, expect, it } from 'vitest';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clusterStores, describeClusters } from './support/cluster-stores.js';
import type { FakeRequest } from './support/fake-llm.types.js';
import { questionIn } from './support/run-tree.js';
import { ProcessWorld } from './support/process-world.js';

const world = ProcessWorld.prepare();
const step = (id: string, n: number, after: string[], kind = 'read') => ({
  id,
  type: 'tool',
  tool: `${kind}_step`,
  arguments: { step: n },
  after,
});

/** Two parallel branches, a list, an agent, and a tool that must not be called twice. */
const LONG = {
  name: 'long',
  nodes: [
    { id: 'ask', type: 'llm', prompt: 'ask {{input.what}}' },
    step('one', 1, ['ask']),
    step('two', 2, ['ask']),
    {
      id: 'each',
      type: 'map',
      over: '{{input.list}}',
      concurrency: 1,
      node: { type: 'tool', tool: 'read_step', arguments: { step: '{{item}}' } },
      after: ['one', 'two'],
    },
    {
      id: 'agent',
      type: 'agent',
      agent: { instructions: 'I am desk.', tools: [] },
      message: 'sum up',
      after: ['each'],
    },
    step('pay', 9, ['agent'], 'once'),
    { id: 'word', type: 'llm', prompt: 'word {{pay.result}}' },
  ],
};
const INPUT = { what: 'it', list: [3, 4, 5] };

/** Starts a process with the workflow. */
function start(env: Readonly<Record<string, string>> = {}) {
  const dir = join(world.folder, 'workflows');
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'long.json'), JSON.stringify(LONG));
  return world.start({ WORKFLOWS_DIR: dir, ...env });
}

const asked = () => world.llm.requests.map((request) => questionIn(request));
const STEPS = [1, 2, 3, 4, 5].map((n) => `read_step ${n}`);

describe('kill -9 while a workflow is executed', () => {
  beforeEach(() => void world.llm.always((request: FakeRequest) => ({ text: `re: ${String(questionIn(request))}` })));

  /** Starts the workflow, and kills the process when a line appears. */
  async function dieAt(line: string, env: Readonly<Record<string, string>>): Promise<string> {
    const first = await start(env);
    const { body } = await first.post('/api/workflows/long/runs', { input: INPUT });
    await first.waitForLine(line);
    await first.kill();
    return String(body['run_id']);
  }

  it('repeats only the interrupted step', async () => {
    const runId = await dieAt('performing read_step 4', { BLOCK_AT: 'read_step 4' });
    const second = await start();
    const events = await second.events(runId);
    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { output: { response: expect.any(String) } } });
    expect(world.effects().toSorted()).toEqual([...STEPS, 'read_step 4', 'once_step 9'].toSorted());
    expect(asked()).toEqual(['ask it', 'sum up', 'word did step 9']);
    const published = events.flatMap(({ event, data }) => (event === 'node.completed' ? [data['node']] : []));
    const nodes = ['ask', 'one', 'two', 'each/1', 'each/2', 'each/3', 'each', 'agent', 'pay', 'word'];
    expect([published.length, new Set(published)]).toEqual([nodes.length, new Set(nodes)]);
    const ids = events.flatMap(({ id }) => (id === null ? [] : [id]));
    expect(ids).toEqual(ids.map((_, i) => i + 1));
  });

  it('asks a person for the outcome of a call that must not be repeated', async () => {
    const runId = await dieAt('performing once_step 9', { BLOCK_AT: 'once_step 9' });
    const second = await start();
    expect((await second.events(runId)).at(-1)).toMatchObject({
      event: 'run.waiting',
      data: { requests: [{ kind: 'outcome_unknown', call_id: 'pay', tool: 'once_step' }] },
    });
    const settled = await second.post(`/api/runs/${runId}/settle`, { outcome: 'succeeded', result: 'it was paid' });
    expect(settled.status).toBe(202);
    expect((await second.events(runId)).at(-1)).toMatchObject({
      event: 'run.completed',
      data: { output: { response: 're: word it was paid' } },
    });
    expect(world.effects().filter((line) => line.startsWith('once'))).toEqual(['once_step 9']);
  });

  it('repeats no completed model call, and repeats the interrupted one', async () => {
    world.llm.reply({ text: 'first' }, { hang: true });
    const first = await start();
    const { body } = await first.post('/api/workflows/long/runs', { input: INPUT });
    await world.llm.waitForRequest(2);
    await first.kill();
    const second = await start();
    expect((await second.events(String(body['run_id']))).at(-1)).toMatchObject({ event: 'run.completed' });
    expect(asked()).toEqual(['ask it', 'sum up', 'sum up', 'word did step 9']);
    expect(world.effects().toSorted()).toEqual([...STEPS, 'once_step 9'].toSorted());
    const { body: list } = await second.get('/api/runs');
    expect(list['runs']).toHaveLength(2);
  });
});

const stores = await clusterStores();

describeClusters('a workflow whose process dies, in a cluster', stores, (store) => {
  world.share(store);

  it('continues in another process', async () => {
    world.llm.always((request: FakeRequest) => ({ text: `re: ${String(questionIn(request))}` }));
    const env = { CLUSTER_LEASE_MS: '2000', CLUSTER_CHECK_MS: '500' };
    const a = await start({ ...env, BLOCK_AT: 'read_step 4' });
    const { body } = await a.post('/api/workflows/long/runs', { input: INPUT });
    await a.waitForLine('performing read_step 4');
    const b = await start(env);
    await a.kill();
    expect((await b.events(String(body['run_id']))).at(-1)).toMatchObject({ event: 'run.completed' });
    expect(world.effects().toSorted()).toEqual([...STEPS, 'read_step 4', 'once_step 9'].toSorted());
    expect(asked()).toEqual(['ask it', 'sum up', 'word did step 9']);
  });
});
