import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clusterStores, describeClusters } from './support/cluster-stores.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import type { Answer, JackdawClient } from './support/jackdaw-client.js';
import { WorkflowWorld } from './support/workflow-world.js';
import { ProcessWorld } from './support/process-world.js';
import { agentIn } from './support/run-tree.js';
import { AGENT_TREE, runTreeScript } from './support/run-tree-processes.js';
import { doneIn, stepByStep } from './support/step-script.js';
import { eventually } from './support/eventually.js';
import { inShortForm } from './support/long-form.js';

const DOWN: FakeReply = { status: 503, body: { error: { message: 'down' } } };
const QUERY = { query: 'do five steps' };

/** A model that is down after a number of steps. */
const downAfter =
  (steps: number, fault = DOWN) =>
  (request: FakeRequest): FakeReply =>
    doneIn(request) < steps ? stepByStep('once_step')(request) : fault;

async function submit(server: JackdawClient, more: object = {}): Promise<string> {
  const { status, body } = await server.post('/api/agent/runs', { ...QUERY, ...more });
  expect(status).toBe(202);
  return String(body['run_id']);
}

/** Waits until an outage has postponed the run. */
function postponed(server: JackdawClient, runId: string): Promise<Answer> {
  return eventually(async () => {
    const answer = await server.get(`/api/runs/${runId}`);
    expect(answer.body).toMatchObject({ status: 'queued', queued_reason: expect.any(String) });
    return answer;
  });
}

/** Follows the run to its end. */
async function endOf(server: JackdawClient, runId: string): Promise<unknown> {
  return (await server.events(runId)).at(-1);
}

const world = ProcessWorld.prepare();

describe('a background run during an outage of its provider', () => {
  beforeEach(() => void world.llm.always(downAfter(2)));

  it('is queued with the reason and the next attempt, and continues afterwards without repeating a call', async () => {
    const server = await world.start();
    const runId = await submit(server);
    const following = server.events(runId);
    const { body } = await postponed(server, runId);
    expect(body).toMatchObject({ queued_reason: 'provider unavailable: MODEL_UNAVAILABLE', finish_reason: null });
    expect(body['next_attempt_at']).toEqual(expect.any(Number));
    const { body: list } = await server.get('/api/runs?status=queued');
    const { queued_reason, next_attempt_at } = body;
    expect(list['runs']).toMatchObject([{ run_id: runId, queued_reason, next_attempt_at }]);
    world.llm.always(stepByStep('once_step'));
    // The follower stays connected, and misses nothing.
    const events = await following;
    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'all done' } });
    expect(events.filter(({ event }) => event === 'run.resumed')).not.toHaveLength(0);
    expect(world.effects()).toEqual([1, 2, 3, 4, 5].map((step) => `once_step ${step}`));
  });

  it('continues in the next process, and a kill during the outage is not a crash of the run', async () => {
    let server = await world.start();
    const runId = await submit(server);
    for (let starts = 0; starts < 3; starts++) {
      await postponed(server, runId);
      await server.kill();
      if (starts === 2) world.llm.always(stepByStep('once_step'));
      server = await world.start();
    }
    expect(await endOf(server, runId)).toMatchObject({ event: 'run.completed' });
    expect(world.effects()).toEqual([1, 2, 3, 4, 5].map((step) => `once_step ${step}`));
  });

  it('frees its capacity and holds its session, and a cancel ends it at once with its turn', async () => {
    const server = await world.start({ RUN_CONCURRENCY: '1', SESSION_BUSY: 'reject' });
    const asked = { status: 429, headers: { 'retry-after': '600' }, body: { error: { message: 'slow down' } } };
    world.llm.always(downAfter(1, asked));
    const runId = await submit(server, { sessionId: 's' });
    const { body } = await postponed(server, runId);
    expect(Number(body['next_attempt_at']) - Date.now()).toBeGreaterThan(500_000);
    world.llm.always({ text: 'hello' });
    expect((await server.chat({ query: 'hi' })).body).toMatchObject({ result: 'hello' });
    const busy = await server.chat({ query: 'hi', sessionId: 's' });
    expect(busy).toMatchObject({ status: 409, body: { code: 'SESSION_BUSY' } });
    expect((await server.post(`/api/runs/${runId}/cancel`)).status).toBe(202);
    expect(await endOf(server, runId)).toMatchObject({ event: 'run.cancelled' });
    const { body: session } = await server.get('/api/sessions/s/messages');
    expect(session['messages']).toHaveLength(3);
    expect(world.effects()).toEqual(['once_step 1']);
  });

  it('ends at its deadline, or when the outage lasts longer than RUN_OUTAGE_PATIENCE_MS', async () => {
    const server = await world.start({ RUN_OUTAGE_PATIENCE_MS: '1500' });
    const [late, patient] = [await submit(server, { deadlineMs: 900 }), await submit(server)];
    expect(await endOf(server, late)).toMatchObject({ event: 'run.failed', data: { finish_reason: 'timeout' } });
    const error = { code: 'MODEL_UNAVAILABLE' };
    expect(await endOf(server, patient)).toMatchObject({ event: 'run.failed', data: { error, result: '' } });
  });

  it.each(
    inShortForm(1, [
      [429, { message: 'no credit', code: 'insufficient_quota' }, 'MODEL_RATE_LIMITED'],
      [401, { message: 'wrong key' }, 'MODEL_AUTHENTICATION'],
    ]),
  )('fails at once after %i %j', async (status, error, code) => {
    const server = await world.start();
    world.llm.always({ status, body: { error } });
    const runId = await submit(server);
    expect(await endOf(server, runId)).toMatchObject({ event: 'run.failed', data: { error: { code } } });
    expect(world.llm.requests).toHaveLength(1);
  });

  it('does not delay a chat, which fails at once', async () => {
    const server = await world.start();
    expect(await server.chat(QUERY)).toMatchObject({ status: 502, body: { code: 'MODEL_UNAVAILABLE' } });
  });
});

describe('a tree of runs during an outage', () => {
  it('frees the capacity of all its runs, and continues afterwards', async () => {
    const script = runTreeScript([{ name: 'read_step', arguments: { step: 1 } }]);
    const down = (request: FakeRequest): FakeReply =>
      agentIn(request) === 'worker' && doneIn(request) > 0 ? DOWN : script(request);
    world.llm.always(down);
    const server = await world.start({ AGENTS: AGENT_TREE, RUN_CONCURRENCY: '1' });
    const runId = await submit(server, { query: 'go' });
    await postponed(server, runId);
    world.llm.always(script);
    expect(await endOf(server, runId)).toMatchObject({ event: 'run.completed', data: { result: 'boss: all done' } });
    expect(world.effects()).toEqual(['read_step 1']);
  });
});

describeClusters('a background run during an outage in a cluster', await clusterStores(), (store) => {
  world.share(store);

  it('continues on another process, and can be cancelled on any', async () => {
    world.llm.always(downAfter(2));
    const [a, b] = await Promise.all([world.start(), world.start()]);
    const runs = [await submit(a), await submit(a)] as const;
    for (const runId of runs) await postponed(b, runId);
    expect((await b.post(`/api/runs/${runs[1]}/cancel`)).status).toBe(202);
    expect(await endOf(b, runs[1])).toMatchObject({ event: 'run.cancelled' });
    await a.kill();
    world.llm.always(stepByStep('once_step'));
    expect(await endOf(b, runs[0])).toMatchObject({ event: 'run.completed' });
    const effects = world.effects().toSorted();
    expect(effects).toEqual([1, 1, 2, 2, 3, 4, 5].map((step) => `once_step ${step}`));
  });
});

describe('a workflow during an outage', () => {
  let workflows: WorkflowWorld;
  beforeAll(async () => {
    const nodes = [
      { id: 'order', type: 'code', code: 'load_order', arguments: { id: '7' } },
      { id: 'fails', type: 'llm', prompt: 'one', after: ['order'] },
      { id: 'agent', type: 'agent', agent: { instructions: 'x' }, message: 'two', after: ['order'] },
    ] as const;
    const replaced = [
      { id: 'agent', type: 'agent', agent: { instructions: 'x' }, message: 'one', onError: { fallback: 'other' } },
      { id: 'other', type: 'llm', prompt: 'two' },
    ] as const;
    workflows = await WorkflowWorld.begin([
      { name: 'steps', nodes },
      { name: 'replaced', nodes: replaced },
    ] as never);
  });
  afterAll(() => workflows.stop());

  it('postpones all nodes that ask a model, also for a client that waits, and repeats no other node', async () => {
    workflows.say({ one: () => DOWN, two: () => DOWN });
    const { status, body } = await workflows.run('steps');
    expect({ status, body }).toMatchObject({ status: 202, body: { status: 'queued' } });
    const runId = String(body['run_id']);
    await postponed(workflows.jackdaw, runId);
    workflows.say({ one: 'first', two: 'second' });
    expect(await endOf(workflows.jackdaw, runId)).toMatchObject({ event: 'run.completed' });
    expect(workflows.steps.loaded).toEqual(['7']);
  });

  it('executes the fallback of a node at once, and leaves no child run', async () => {
    workflows.say({ one: () => DOWN, two: 'second' });
    const { body } = await workflows.run('replaced');
    expect(body).toMatchObject({ status: 'completed', output: { response: 'second' } });
    await eventually(async () => {
      const { body: open } = await workflows.jackdaw.get('/api/runs?status=queued,running');
      expect(open['runs']).toEqual([]);
    });
  });
});
