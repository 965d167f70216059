import { beforeEach, describe, expect, it } from 'vitest';
import { clusterStores, describeClusters } from './support/cluster-stores.js';
import { AGENT_TREE, runTreeScript } from './support/run-tree-processes.js';
import { agentIn } from './support/run-tree.js';
import type { JackdawClient } from './support/jackdaw-client.js';
import { ProcessWorld } from './support/process-world.js';

const world = ProcessWorld.prepare();
const step = (kind: string, n: number) => ({ name: `${kind}_step`, arguments: { step: n } });
const start = (env: Readonly<Record<string, string>> = {}) => world.start({ AGENTS: AGENT_TREE, ...env });
const asked = () => world.llm.requests.map(agentIn);

/** Follows a run through its waits to its end. @returns its events */
async function endOf(server: JackdawClient, runId: string) {
  const story = await server.events(runId);
  const last = story.at(-1)!;
  expect(last).toMatchObject({ event: 'run.completed', data: { result: 'boss: all done' } });
  const ids = story.flatMap(({ id }) => (id === null ? [] : [id]));
  expect(ids).toEqual(ids.map((_, i) => i + 1));
  return story;
}

async function childOf(server: JackdawClient, runId: string): Promise<string> {
  const { body } = await server.get(`/api/runs/${runId}`);
  return String((body['child_run_ids'] as unknown as string[])[0]);
}

describe('kill -9 during a child run', () => {
  const steps = [1, 2, 3].map((n) => step('read', n));
  beforeEach(() => void world.llm.always(runTreeScript(steps)));

  it('is recovered at the next start for both runs: the child run, too, repeats only the interrupted step', async () => {
    const first = await start({ BLOCK_AT: 'read_step 2', RUN_CONCURRENCY: '1' });
    const { runId } = await first.stream({ query: 'go', sessionId: 's' });
    await first.waitForLine('performing read_step 2');
    await first.kill();
    const second = await start({ RUN_CONCURRENCY: '1' });
    const story = await endOf(second, runId);
    expect(world.effects()).toEqual([1, 2, 2, 3].map((n) => `read_step ${n}`));
    expect(asked()).toEqual(['boss', 'worker', 'worker', 'worker', 'worker', 'boss']);
    expect(story.filter(({ event }) => event === 'tool.started')).toHaveLength(1);
    const { body } = await second.get(`/api/runs/${await childOf(second, runId)}`);
    expect(body).toMatchObject({ status: 'completed', parent_run_id: runId });
    const runs = (await second.get('/api/runs')).body['runs'] as unknown as unknown[];
    expect(runs).toHaveLength(2);
  });

  it('repeats no completed model call when the child run waits for its model', async () => {
    const script = runTreeScript(steps);
    world.llm.reply(script, { hang: true });
    const first = await start();
    const { runId } = await first.stream({ query: 'go' });
    await world.llm.waitForRequest(2);
    await first.kill();
    const second = await start();
    await endOf(second, runId);
    expect(asked()).toEqual(['boss', 'worker', 'worker', 'worker', 'worker', 'worker', 'boss']);
    expect(world.effects()).toEqual([1, 2, 3].map((n) => `read_step ${n}`));
  });
});

describe('kill -9 while both runs wait for a person', () => {
  it('loses neither run', async () => {
    world.llm.always(runTreeScript([step('approved', 1)]));
    const first = await start();
    const { status, body } = await first.chat({ query: 'go' });
    const runId = String(body['run_id']);
    const childId = await childOf(first, runId);
    expect([status, body['waiting']]).toMatchObject([202, [{ kind: 'child', child_run_id: childId }]]);
    await first.kill();
    const second = await start();
    expect((await second.post(`/api/runs/${childId}/approve`, {})).status).toBe(202);
    await world.llm.waitForRequest(4);
    await second.kill();
    const third = await start();
    await endOf(third, runId);
    expect(world.effects()).toEqual(['approved_step 1']);
  });
});

const stores = await clusterStores();

describeClusters('a run that waits for a child run, in a cluster', stores, (store) => {
  world.share(store);
  beforeEach(() => void world.llm.always(runTreeScript([step('approved', 1)])));

  it('resumes when a person decides about the child run elsewhere, even when the process of both is dead', async () => {
    const [a, b] = await Promise.all([start(), start()]);
    const { body } = await a.chat({ query: 'go' });
    const runId = String(body['run_id']);
    const childId = await childOf(b, runId);
    await a.kill();
    expect((await b.post(`/api/runs/${childId}/approve`, {})).status).toBe(202);
    await world.llm.waitForRequest(4);
    await endOf(b, runId);
    expect([world.effects(), asked()]).toEqual([['approved_step 1'], ['boss', 'worker', 'worker', 'boss']]);
  });

  it('cancels the child run, whichever process receives the request', async () => {
    const [a, b] = await Promise.all([start(), start()]);
    world.llm.reply(runTreeScript([]), { hang: true });
    const stream = await a.stream({ query: 'go' });
    await world.llm.waitForRequest(2);
    await b.post(`/api/runs/${stream.runId}/cancel`);
    await world.llm.waitForAbort();
    expect((await stream.all()).at(-1)?.event).toBe('run.cancelled');
    const { body } = await b.get(`/api/runs/${await childOf(b, stream.runId)}`);
    expect([body['status'], asked()]).toEqual(['cancelled', ['boss', 'worker']]);
  });

  it('is taken over together with the child run', async () => {
    world.llm.always(runTreeScript([1, 2].map((n) => step('read', n))));
    const env = { CLUSTER_LEASE_MS: '2000', CLUSTER_CHECK_MS: '500' };
    const a = await start({ ...env, BLOCK_AT: 'read_step 2' });
    const { runId } = await a.stream({ query: 'go' });
    await a.waitForLine('performing read_step 2');
    const b = await start(env);
    await a.kill();
    await endOf(b, runId);
    expect(world.effects()).toEqual([1, 2, 2].map((n) => `read_step ${n}`));
    expect(asked()).toEqual(['boss', 'worker', 'worker', 'worker', 'boss']);
  });
});
