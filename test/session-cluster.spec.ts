import { beforeAll, expect, it } from 'vitest';
import { clusterStores, describeClusters } from './support/cluster-stores.js';
import { gate } from './support/jackdaw.js';
import type { ServerProcess } from './support/process.js';
import { ProcessWorld } from './support/process-world.js';
import { approvedStep } from './support/step-script.js';

const world = ProcessWorld.prepareLasting();

describeClusters('a session that two processes serve', await clusterStores(), (store) => {
  world.share(store, { SESSION_BUSY: 'reject' });
  let a: ServerProcess;
  let b: ServerProcess;
  beforeAll(async () => {
    [a, b] = await Promise.all([world.start(), world.start()]);
  });

  it('accepts one chat at a time', async () => {
    const hold = gate();
    world.llm.always({ gate: hold.opened, text: 'first' });
    const stream = await a.stream({ query: 'one', sessionId: 'both' });
    await world.llm.waitForRequest();
    expect(await b.chat({ query: 'two', sessionId: 'both' })).toMatchObject({
      status: 409,
      body: { code: 'SESSION_BUSY', run_id: stream.runId },
    });
    hold.open();
    await stream.waitFor('run.completed');
    expect((await b.chat({ query: 'two', sessionId: 'both' })).status).toBe(200);
  });

  it('accepts one of twenty concurrent chats to both processes', async () => {
    const hold = gate();
    world.llm.always({ gate: hold.opened, text: 'the one' });
    const sent = Array.from({ length: 20 }, (_, i) => (i % 2 ? a : b).chat({ query: `${i}`, sessionId: 'crowd' }));
    let refused = 0;
    const all = sent.map(async (one) => {
      const { status } = await one;
      if (status === 409 && ++refused === 19) hold.open();
      return status;
    });
    const admitted = (await Promise.all(all)).filter((status) => status === 200);
    expect([admitted.length, refused]).toEqual([1, 19]);
    expect((await b.messages('crowd')).map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(world.llm.requests).toHaveLength(1);
  });

  // This test is the last one, since it kills a process.
  it('has a waiting run that another process resumes after approval, even when its first process is dead', async () => {
    world.llm.always(approvedStep);
    const { status, body } = await a.chat({ query: 'go', sessionId: 's' });
    expect([status, body['waiting']]).toMatchObject([202, [{ kind: 'approval' }]]);
    const runId = String(body['run_id']);
    await a.kill();
    expect((await b.post(`/api/runs/${runId}/approve`, {})).status).toBe(202);
    const events = await b.events(runId);
    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'done' } });
    expect(world.effects()).toEqual(['approved_step 1']);
  });
});
