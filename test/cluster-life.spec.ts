import { beforeAll, expect, it } from '@jest/globals';
import { clusterStores, describeClusters } from './support/cluster-stores.js';
import type { EventStream, SseEvent } from './support/event-stream.js';
import { FoldingClient } from './support/folding-client.js';
import type { ServerProcess } from './support/process.js';
import { ProcessWorld } from './support/process-world.js';
import { approvedStep, stepByStep } from './support/step-script.js';

const world = ProcessWorld.prepareLasting();
let asked = 0;

function fold(events: readonly SseEvent[], client = new FoldingClient()): FoldingClient {
  for (const { id, place, data } of events) client.take({ id: place, n: id, event: data });
  return client;
}

/** In a session of its own. */
const question = () => ({ query: 'do five steps', sessionId: `session-${asked++}` });

describeClusters('two processes that live', await clusterStores(), (store) => {
  world.share(store, { CLUSTER_LEASE_MS: '4000', CLUSTER_CHECK_MS: '300' });
  let a: ServerProcess;
  let b: ServerProcess;
  beforeAll(async () => {
    [a, b] = await Promise.all([world.start({ BLOCK_AT: 'read_step 3', SHUTDOWN_TIMEOUT_MS: '0' }), world.start()]);
  });

  it('never interleaves two chats of one session', async () => {
    world.llm.always(({ messages }) => ({ text: `answer ${messages.length}` }));
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? a : b).chat({ query: `question ${i}`, sessionId: 'shared' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    const messages = await a.messages('shared');
    expect(messages.map(({ role }) => role)).toEqual(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? 'assistant' : 'user')),
    );
  });

  it('cancels from any process', async () => {
    world.llm.reply({ hang: true });
    const stream = await a.stream(question());
    await world.llm.waitForRequest();
    const answer = await b.post(`/api/runs/${stream.runId}/cancel`);
    expect(answer.status).toBe(202);
    await world.llm.waitForAbort();
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
    const stream = await a.stream(question());
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

  it('goes on elsewhere at the very character at which a client was cut off', async () => {
    const text = Array.from({ length: 40 }, (_, i) => `wört${i}🐦`).join(' ');
    world.llm.reply({ text, drip: 40 });
    const stream = await a.stream(question());
    const clients: [FoldingClient, EventStream][] = [];
    for (const count of [1, 8, 16]) {
      await stream.waitFor('message.delta', count);
      const client = fold(stream.events);
      clients.push([client, await b.follow(stream.runId, client.lastEventId!)]);
    }
    const all = fold(await stream.all());
    expect(all.messages).toEqual([{ text, told: text }]);
    for (const [client, rest] of clients) {
      fold(await rest.all(), client);
      expect([client.messages, client.journaled]).toEqual([all.messages, all.journaled]);
    }
  });

  it('takes one of many answers to a run that come to all at the same time', async () => {
    world.llm.always(approvedStep);
    const { body } = await a.chat(question());
    const runId = String(body['run_id']);
    const answers = await Promise.all([a, b, a, b, a, b].map((node) => node.post(`/api/runs/${runId}/approve`, {})));
    const statuses = answers.map(({ status }) => status).toSorted((x, y) => x - y);
    expect(statuses).toEqual([202, 409, 409, 409, 409, 409]);
    const events = await a.events(runId);
    expect(events.filter(({ event }) => event === 'policy.decided')).toHaveLength(1);
    expect([events.at(-1)?.event, world.effects()]).toEqual(['run.completed', ['approved_step 1']]);
  });

  // The last one: a process ends.
  it('hands over at a stop what has not ended, and others go on with it at once', async () => {
    world.llm.always(stepByStep('read_step'));
    const { runId } = await a.stream(question());
    await a.waitForLine('performing read_step 3');
    const stream = await b.follow(runId);
    expect(await a.kill('SIGTERM')).toMatchObject({ code: 0 });
    await stream.waitFor('run.completed');
    expect(world.effects()).toEqual([1, 2, 3, 3, 4, 5].map((step) => `read_step ${step}`));
  });
});
