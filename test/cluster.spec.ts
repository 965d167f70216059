import { expect, it } from 'vitest';
import { ChangeFeed } from './support/change-feed.js';
import { clusterStores, describeClusters } from './support/cluster-stores.js';
import { ProcessWorld } from './support/process-world.js';
import { doneIn, stepByStep } from './support/step-script.js';

/** Long enough that a busy process keeps its lease; in ms. */
const LEASE_MS = 10_000;
const CHECK_MS = 300;
const QUESTION = { query: 'do five steps', sessionId: 'shared' };

const world = ProcessWorld.prepare();

describeClusters('a cluster', await clusterStores(), (store) => {
  world.share(store, { CLUSTER_LEASE_MS: String(LEASE_MS), CLUSTER_CHECK_MS: String(CHECK_MS) });

  it('resumes the run of a killed process elsewhere without a repetition of finished steps', async () => {
    world.llm.always(stepByStep('read_step'));
    const [a, b] = await Promise.all([world.start({ BLOCK_AT: 'read_step 3' }), world.start()]);
    const { runId } = await a.stream(QUESTION);
    await a.waitForLine('performing read_step 3');
    const stream = await b.follow(runId);
    await stream.waitFor('tool.started', 3);
    await a.kill();
    await stream.waitFor('run.resumed');
    await stream.waitFor('run.completed');
    expect(world.effects()).toEqual([1, 2, 3, 3, 4, 5].map((step) => `read_step ${step}`));
    expect(world.llm.requests.map(doneIn)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('reports the status changes of a run on every node, also those of a node that was killed', async () => {
    world.llm.always(stepByStep('read_step'));
    const [a, b] = await Promise.all([world.start({ BLOCK_AT: 'read_step 3' }), world.start()]);
    const feed = await ChangeFeed.open(b.url, {});
    const { runId } = await a.stream(QUESTION);
    await feed.waitFor(runId, 'running');
    await a.waitForLine('performing read_step 3');
    await a.kill();
    expect(await feed.waitFor(runId, 'completed')).toMatchObject({ error_code: null });
    feed.leave();
  });

  it('prevents a frozen process from writing and calling tools after the takeover of its run', async () => {
    let thaw = () => undefined as void;
    const frozen = new Promise<void>((resolve) => (thaw = resolve));
    const [a, b] = await Promise.all([world.start({ LOG_LEVEL: 'error' }), world.start()]);
    // The frozen process gets its reply, a tool call, after it thaws; the other process gets its reply at once.
    const script = stepByStep('read_step');
    world.llm.reply(script, script, (request) => ({ ...script(request), gate: frozen })).always(script);
    const { runId } = await a.stream(QUESTION);
    await world.llm.waitForRequest(3);
    a.signal('SIGSTOP');
    const stream = await b.follow(runId);
    await stream.waitFor('run.completed');
    const before = (await b.get(`/api/runs/${runId}`)).body;
    const done = world.effects();
    a.signal('SIGCONT');
    thaw();
    await a.waitForLine('{"level":50');
    expect(world.effects()).toEqual(done);
    expect((await b.get(`/api/runs/${runId}`)).body).toEqual(before);
    const { body } = await a.chat({ query: 'and now?', sessionId: 'other' });
    expect(body).toEqual(expect.objectContaining({ result: 'all done' }));
  });
});
