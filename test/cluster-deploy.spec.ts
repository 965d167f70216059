import { expect, it } from 'vitest';
import { Client } from 'pg';
import { clusterStores, describeClusters } from './support/cluster-stores.js';
import { gate } from './support/jackdaw.js';
import { ProcessWorld } from './support/process-world.js';
import { doneIn, stepByStep } from './support/step-script.js';
import { inShortForm, itInLongForm } from './support/long-form.js';

const OLD = { LOOP: '1', LOOPS: '1' };
/** Environments of the next release: one can replay the runs of the old release, one cannot. */
const [COMPATIBLE, INCOMPATIBLE] = [
  { LOOP: '2', LOOPS: '1,2' },
  { LOOP: '2', LOOPS: '2' },
];
const QUESTION = { query: 'do five steps', sessionId: 'old' };
const ONCE_EACH = [1, 2, 3, 3, 4, 5].map((step) => `read_step ${step}`);

const world = ProcessWorld.prepare();
/** One store is enough: the queues behave alike on all stores. */
const stores = (await clusterStores()).filter(({ name }) => name === 'postgres');

describeClusters('a rolling deployment of another loop version', stores, (store) => {
  // A process that is slow on a busy machine must not count as dead.
  world.share(store, { CLUSTER_LEASE_MS: '5000', CLUSTER_CHECK_MS: '500', SHUTDOWN_TIMEOUT_MS: '0' });

  it('hands over runs of the old release to the new one if that can replay them', async () => {
    world.llm.always(stepByStep('read_step'));
    const [old, next] = await Promise.all([world.start({ ...OLD, BLOCK_AT: 'read_step 3' }), world.start(COMPATIBLE)]);
    const { runId } = await old.stream(QUESTION);
    await old.waitForLine('performing read_step 3');
    expect(await old.kill('SIGTERM')).toMatchObject({ code: 0 });
    expect((await next.events(runId)).at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'all done' } });
    expect([world.effects(), world.llm.requests.map(doneIn)]).toEqual([ONCE_EACH, [0, 1, 2, 3, 4, 5]]);
    expect((await next.get(`/api/runs/${runId}/journal`)).body['loop_version']).toBe(1);
  });

  itInLongForm('resumes runs of an old release that has stopped', async () => {
    world.llm.always(stepByStep('read_step'));
    const old = await world.start({ ...OLD, BLOCK_AT: 'read_step 3' });
    const { runId } = await old.stream(QUESTION);
    await old.waitForLine('performing read_step 3');
    expect(await old.kill('SIGTERM')).toMatchObject({ code: 0 });
    const next = await world.start(COMPATIBLE);
    expect((await next.events(runId)).at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'all done' } });
    expect(world.effects()).toEqual(ONCE_EACH);
  });

  it('leaves runs to compatible processes as long as one lives, then fails them with a valid history', async () => {
    const hold = gate();
    const script = stepByStep('read_step');
    world.llm.always((request) => ({ ...script(request), ...(doneIn(request) === 4 && { gate: hold.opened }) }));
    const [first, next] = await Promise.all([
      world.start({ ...OLD, BLOCK_AT: 'read_step 3' }),
      world.start(INCOMPATIBLE),
    ]);
    const last = await world.start(OLD);
    const { runId } = await first.stream(QUESTION);
    await first.waitForLine('performing read_step 3');
    const stream = await next.follow(runId);
    await first.kill();
    // The last process of the old release resumes the run although the new one has a free slot.
    await last.waitForLine('performing read_step 4');
    await last.kill();
    expect((await stream.all()).at(-1)).toMatchObject({
      event: 'run.failed',
      data: { error: { code: 'RUN_VERSION_UNSUPPORTED' } },
    });
    const roles = (await next.messages('old')).map(({ role }) => role);
    expect(roles).toEqual(['user', ...Array.from({ length: 4 }, () => ['assistant', 'tool']).flat()]);
    expect(world.effects()).toEqual(ONCE_EACH.slice(0, -1));
    hold.open();
    world.llm.always({ text: 'new' });
    expect((await next.chat({ query: 'and now?', sessionId: 'old' })).body).toMatchObject({ result: 'new' });
  });
});

describeClusters('a process of a cluster', stores, (store) => {
  world.share(store);

  // One that listens, and for each kind of run one of the queue and three of the worker.
  // One listens for notifications, one or two are of queues, and two or three of the worker of each kind of runs.
  it.each(
    inShortForm(1, [
      [2, 9],
      [10, 12],
    ]),
  )('holds, with a pool of %i connections to PostgreSQL, at most %i others', async (size, others) => {
    world.llm.always({ text: 'hello' });
    const server = await world.start({ DATABASE_POOL_SIZE: String(size) });
    await Promise.all(Array.from({ length: 20 }, (_, i) => server.chat({ query: 'x', sessionId: `s${i}` })));
    const { body } = await server.post('/api/agent/runs', { query: 'from the queue' });
    expect((await server.events(String(body['run_id']))).at(-1)).toMatchObject({ event: 'run.completed' });
    const url = world.env()['DATABASE_URL']!;
    const client = new Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(
      'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    await client.end();
    expect(rows.length).toBeLessThanOrEqual(size + others);
  });
});
