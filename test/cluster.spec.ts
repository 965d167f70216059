import { expect, it, jest } from '@jest/globals';
import { clusterStores, describeClusters } from './support/cluster-stores.js';
import type { EventStream } from './support/event-stream.js';
import { ProcessWorld } from './support/process-world.js';
import { doneIn, stepByStep } from './support/step-script.js';

const LEASE_MS = 1_500;
const CHECK_MS = 300;
/** What a takeover may take beyond the lease and the check, in ms. */
const SLACK_MS = 1_000;
const QUESTION = { query: 'do five steps', sessionId: 'shared' };

// Processes start, and leases run out: on a busy machine that takes its time.
jest.setTimeout(60_000);

const world = ProcessWorld.prepare();

describeClusters('a cluster', await clusterStores(), (store) => {
  world.share(store, { CLUSTER_LEASE_MS: String(LEASE_MS), CLUSTER_CHECK_MS: String(CHECK_MS) });

  it('goes on elsewhere with the run of a process that was killed, and no finished step is repeated', async () => {
    world.llm.always(stepByStep('read_step'));
    const [a, b] = await Promise.all([world.start({ BLOCK_AT: 'read_step 3' }), world.start()]);
    const { runId } = await a.stream(QUESTION);
    await a.waitForLine('performing read_step 3');
    const stream = await b.follow(runId);
    await stream.waitFor('tool.started', 3);
    const killedAt = performance.now();
    await a.kill();
    await stream.waitFor('run.resumed');
    expect(performance.now() - killedAt).toBeLessThan(LEASE_MS + CHECK_MS + SLACK_MS);
    await stream.waitFor('run.completed');
    expect(world.effects()).toEqual([1, 2, 3, 3, 4, 5].map((step) => `read_step ${step}`));
    expect(world.llm.requests.map(doneIn)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('writes nothing and calls no tool after it was frozen and another process took its run over', async () => {
    let thaw = () => undefined as void;
    const frozen = new Promise<void>((resolve) => (thaw = resolve));
    const [a, b] = await Promise.all([world.start({ LOG_LEVEL: 'error' }), world.start()]);
    // The frozen process gets its reply, a tool call, when it thaws; the other one is answered at once.
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
    expect((await a.chat({ query: 'and now?', sessionId: 'other' })).status).toBe(200);
  });

  it('cancels from any process', async () => {
    world.llm.reply({ hang: true });
    const [a, b] = await Promise.all([world.start(), world.start()]);
    const stream = await a.stream(QUESTION);
    await world.llm.waitForRequest();
    const cancelledAt = performance.now();
    const answer = await b.post(`/api/runs/${stream.runId}/cancel`);
    expect(answer.status).toBe(202);
    await world.llm.waitForAbort();
    expect(performance.now() - cancelledAt).toBeLessThan(1_000);
    await stream.waitFor('run.cancelled');
    expect(world.llm.requests).toHaveLength(1);
  });

  it('tells a follower elsewhere every event in order, and text while it comes', async () => {
    let go = () => undefined as void;
    const gate = new Promise<void>((resolve) => (go = resolve));
    world.llm.reply(
      { calls: [{ name: 'read_step', arguments: { step: 1 } }] },
      { text: 'one two three four five', gate },
    );
    const [a, b] = await Promise.all([world.start(), world.start()]);
    const stream = await a.stream(QUESTION);
    await world.llm.waitForRequest(2);
    const other = await b.follow(stream.runId);
    await other.waitFor('tool.completed');
    // Its interest has reached the process that runs the run when it hears of the step that has begun.
    await new Promise((resolve) => setTimeout(resolve, 300));
    go();
    await Promise.all([stream.all(), other.all()]);
    const journaled = ({ events }: EventStream) => events.filter(({ id }) => id !== null && !String(id).includes('.'));
    expect(journaled(other)).toEqual(journaled(stream));
    expect(other.deltas()).toBe('one two three four five');
  });

  it('never interleaves two chats of one session', async () => {
    world.llm.always(({ messages }) => ({ text: `answer ${messages.length}` }));
    const [a, b] = await Promise.all([world.start(), world.start()]);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? a : b).chat({ query: `question ${i}`, sessionId: 'shared' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    const messages = await a.messages('shared');
    expect(messages.map(({ role }) => role)).toEqual(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? 'assistant' : 'user')),
    );
  });

  it('hands over at a stop what has not ended, and others go on with it at once', async () => {
    world.llm.always(stepByStep('read_step'));
    const [a, b] = await Promise.all([
      world.start({ BLOCK_AT: 'read_step 3', SHUTDOWN_TIMEOUT_MS: '0' }),
      world.start(),
    ]);
    const { runId } = await a.stream(QUESTION);
    await a.waitForLine('performing read_step 3');
    const stream = await b.follow(runId);
    expect(await a.kill('SIGTERM')).toMatchObject({ code: 0 });
    await stream.waitFor('run.completed');
    expect(world.effects()).toEqual([1, 2, 3, 3, 4, 5].map((step) => `read_step ${step}`));
  });
});
