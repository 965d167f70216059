import { beforeEach, expect, it, jest } from '@jest/globals';
import { clusterStores, describeClusters } from './support/cluster-stores.js';
import { ProcessWorld } from './support/process-world.js';

const CALL = { id: 'c', name: 'approved_step', arguments: { step: 1 } };
const QUESTION = { query: 'go', sessionId: 's' };

// Processes start, and leases run out: on a busy machine that takes its time.
jest.setTimeout(30_000);

const world = ProcessWorld.prepare();
beforeEach(() => {
  world.llm.always(({ messages }) => (messages.at(-1)?.role === 'tool' ? { text: 'done' } : { calls: [CALL] }));
});

describeClusters('a run that waits, in a cluster', await clusterStores(), (store) => {
  world.share(store);

  it('goes on when another process is told, also when the one that ran it is dead', async () => {
    const [a, b] = await Promise.all([world.start(), world.start()]);
    const { status, body } = await a.chat(QUESTION);
    expect([status, body['waiting']]).toMatchObject([202, [{ kind: 'approval' }]]);
    const runId = String(body['run_id']);
    await a.kill();
    expect((await b.post(`/api/runs/${runId}/approve`, {})).status).toBe(202);
    const events = await b.events(runId);
    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'done' } });
    expect(world.effects()).toEqual(['approved_step 1']);
  });

  it('takes one of many answers that come to all processes at the same time', async () => {
    const [a, b] = await Promise.all([world.start(), world.start()]);
    const { body } = await a.chat(QUESTION);
    const runId = String(body['run_id']);
    const answers = await Promise.all([a, b, a, b, a, b].map((node) => node.post(`/api/runs/${runId}/approve`, {})));
    const statuses = answers.map(({ status }) => status).toSorted((x, y) => x - y);
    expect(statuses).toEqual([202, 409, 409, 409, 409, 409]);
    const events = await a.events(runId);
    expect(events.filter(({ event }) => event === 'policy.decided')).toHaveLength(1);
    expect([events.at(-1)?.event, world.effects()]).toEqual(['run.completed', ['approved_step 1']]);
  });
});
