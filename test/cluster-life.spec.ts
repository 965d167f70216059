import { beforeAll, expect, it } from 'vitest';
import { clusterStores, describeClusters, PATIENCE } from './support/cluster-stores.js';
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

/** A question in a new session. */
const question = () => ({ query: 'do five steps', sessionId: `session-${asked++}` });

describeClusters('two live processes', await clusterStores(), (store) => {
  world.share(store, { CLUSTER_LEASE_MS: '8000', CLUSTER_CHECK_MS: '300', ...PATIENCE });
  let a: ServerProcess;
  let b: ServerProcess;
  beforeAll(async () => {
    [a, b] = await Promise.all([world.start({ BLOCK_AT: 'read_step 3', SHUTDOWN_TIMEOUT_MS: '0' }), world.start()]);
  });

  it('never interleave two chats of one session', async () => {
    world.llm.always(({ messages }) => ({ text: `answer ${messages.length}` }));
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? a : b).chat({ query: `question ${i}`, sessionId: 'shared' })),
    );
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    const messages = await a.messages('shared');
    expect(messages.map(({ role }) => role)).toEqual(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? 'assistant' : 'user')),
    );
  });

  it('can each cancel a run of the other', async () => {
    world.llm.reply({ hang: true });
    const stream = await a.stream(question());
    await world.llm.waitForRequest();
    const answer = await b.post(`/api/runs/${stream.runId}/cancel`);
    expect(answer.status).toBe(202);
    await world.llm.waitForAbort();
    await stream.waitFor('run.cancelled');
    expect(world.llm.requests).toHaveLength(1);
  });

  it('stream all events in order, and text as it arrives, to a follower on the other', async () => {
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
    // Node b announces its follower to the executing node asynchronously; the wait lets that happen before the text
    // starts.
    await new Promise((resolve) => setTimeout(resolve, 300));
    go();
    await Promise.all([stream.all(), other.all()]);
    const journaled = ({ events }: EventStream) => events.filter(({ id }) => id !== null && !String(id).includes('.'));
    expect(journaled(other)).toEqual(journaled(stream));
    expect(other.deltas()).toBe('one two three four five');
  });

  it('resume a disconnected client at the exact character on the other', async () => {
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
    expect(all.messages).toEqual([{ text, received: text }]);
    for (const [client, rest] of clients) {
      fold(await rest.all(), client);
      expect([client.messages, client.journaled]).toEqual([all.messages, all.journaled]);
    }
  });

  it('accept one of many simultaneous approvals', async () => {
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

  // The last test: it stops a process.
  it('hand over unfinished runs at a stop, and the other resumes them at once', async () => {
    world.llm.always(stepByStep('read_step'));
    const { runId } = await a.stream(question());
    await a.waitForLine('performing read_step 3');
    const stream = await b.follow(runId);
    expect(await a.kill('SIGTERM')).toMatchObject({ code: 0 });
    await stream.waitFor('run.completed');
    expect(world.effects()).toEqual([1, 2, 3, 3, 4, 5].map((step) => `read_step ${step}`));
  });
});
