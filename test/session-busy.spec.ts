import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FakeLlm } from './support/fake-llm.js';
import { gate, startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';

/** Expects the refusal of a chat in a busy session. */
function expectBusy({ status, body }: Answer, runId: string): void {
  expect({ status, body }).toMatchObject({ status: 409, body: { code: 'SESSION_BUSY', run_id: runId } });
}

describe('a session whose run has not ended, when others are rejected', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;

  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({ llm, env: { SESSION_BUSY: 'reject', RUN_CONCURRENCY: '2' } });
  });
  afterEach(() => llm.reset());
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  /** The session's run, as soon as it is journaled. */
  async function openRun(sessionId: string): Promise<string> {
    for (;;) {
      const { status, body } = await jackdaw.get(`/api/runs?sessionId=${sessionId}`);
      expect(status).toBe(200);
      const [run] = body['runs'] as unknown as { run_id: string }[];
      if (run) return run.run_id;
    }
  }

  it('refuses a second chat, streamed or not, and is free at its end', async () => {
    const hold = gate();
    llm.reply({ gate: hold.opened, text: 'first' }, { text: 'second' });
    const first = jackdaw.chat({ query: 'one', sessionId: 'held' });
    await llm.waitForRequest();
    const runId = await openRun('held');
    expectBusy(await jackdaw.chat({ query: 'two', sessionId: 'held' }), runId);
    expectBusy(await jackdaw.post('/api/agent/chat/stream', { query: 'two', sessionId: 'held' }), runId);
    hold.open();
    expect((await first).body).toMatchObject({ result: 'first' });
    expect((await jackdaw.chat({ query: 'two', sessionId: 'held' })).body).toMatchObject({ result: 'second' });
    expect(llm.requests).toHaveLength(2);
  });

  it('accepts one of twenty concurrent chats', async () => {
    const hold = gate();
    llm.always({ gate: hold.opened, text: 'done' });
    const sent = Array.from({ length: 20 }, (_, i) => jackdaw.chat({ query: `${i}`, sessionId: 'crowd' }));
    const refused: Answer[] = [];
    for (const one of sent) void one.then((answer) => answer.status === 409 && refused.push(answer));
    while (refused.length < 19) await jackdaw.get('/api/health/live');
    hold.open();
    const answers = await Promise.all(sent);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const { body } = await jackdaw.get('/api/sessions/crowd/messages');
    expect(body['messages']).toHaveLength(2);
  });

  it('is also held by a chat that waits for capacity: a second one is refused when it has started', async () => {
    const [others, hold] = [gate(), gate()];
    llm.always(async ({ messages }) => {
      await (messages.at(-1)?.content === 'other' ? others : hold).opened;
      return { text: 'done' };
    });
    const busy = [0, 1].map((i) => jackdaw.chat({ query: 'other', sessionId: `other-${i}` }));
    await llm.waitForRequest(2);
    const chats = ['one', 'two'].map((query) => jackdaw.chat({ query, sessionId: 'waits' }));
    await jackdaw.get('/api/health/live');
    others.open();
    await Promise.all(busy);
    await llm.waitForRequest(3);
    expectBusy(await Promise.race(chats), await openRun('waits'));
    hold.open();
    const statuses = (await Promise.all(chats)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 409]));
    expect(llm.requests).toHaveLength(3);
  });

  it('lets background runs queue', async () => {
    const hold = gate();
    llm.always({ gate: hold.opened, text: 'done' });
    const first = jackdaw.chat({ query: 'one', sessionId: 'behind' });
    await llm.waitForRequest();
    const { status } = await jackdaw.post('/api/agent/runs', { query: 'two', sessionId: 'behind' });
    expect(status).toBe(202);
    hold.open();
    expect((await first).status).toBe(200);
  });
});
