import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { request, type Server, type ServerResponse } from 'node:http';
import { Database } from '../src/persistence/index.js';
import type { EventStream, SseEvent } from './support/event-stream.js';
import { FakeLlm } from './support/fake-llm.js';
import { gate, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { TestTools } from './support/test.tool.js';

const WAIT = (name: string) => ({ text: 'Let me see.', calls: [{ id: 'c', name: 'wait', arguments: { name } }] });

describe('a stream', () => {
  let llm: FakeLlm;
  let tools: TestTools;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    tools = new TestTools();
    jackdaw = await startJackdaw({ llm, tools: [tools] });
  });
  afterEach(() => llm.reset());
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  const journaled = (events: readonly SseEvent[]) => events.filter(({ id }) => id !== null);

  it('publishes all events in order, with ids for journaled ones, and ends after the end of the run', async () => {
    tools.open('ordered');
    llm.reply(WAIT('ordered')).reply({ text: 'All is well, 真的.' });
    const stream = await jackdaw.stream({ query: 'go', sessionId: 'ordered' });
    const events = await stream.all();
    expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(stream.headers['cache-control']).toContain('no-cache');
    expect(stream.rest).toBe('');

    expect(journaled(events).map(({ event }) => event)).toEqual([
      'run.started',
      'message.completed',
      'usage',
      'tool.started',
      'tool.completed',
      'message.completed',
      'usage',
      'run.completed',
    ]);
    expect(journaled(events).map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    for (const { id, event, data } of events) {
      expect(data.type).toBe(event);
      expect(id === null).toBe(event === 'message.delta' || event === 'step.started');
    }
    const texts = events.flatMap(({ data }) => (data.type === 'message.completed' ? [data.text] : []));
    expect(texts).toEqual(['Let me see.', 'All is well, 真的.']);
    for (const iteration of [1, 2]) {
      const deltas = events.flatMap(({ data }) =>
        data.type === 'message.delta' && data.iteration === iteration ? [data.text] : [],
      );
      expect(deltas.length).toBeGreaterThan(1);
      expect(deltas.join('')).toBe(texts[iteration - 1]);
    }
    expect(events.at(-1)?.data).toMatchObject({ result: 'All is well, 真的.', is_complete: true, iterations: 2 });
    expect(events[0]?.data).toMatchObject({ session_id: 'ordered', run_id: stream.headers['x-run-id'] });
  });

  it('delivers the first words before the last ones exist', async () => {
    llm.reply({ text: 'one two three', stallAfter: 3 });
    const stream = await jackdaw.stream({ query: 'go', cancelOnDisconnect: true });
    await stream.waitForText('one two');
    expect(stream.types()).not.toContain('message.completed');
    stream.leave();
    await llm.waitForAbort();
  });

  it('replays exactly the missed events of a finished run', async () => {
    llm.reply({ text: 'done' });
    const stream = await jackdaw.stream({ query: 'go' });
    const all = journaled(await stream.all());
    const runId = String(stream.headers['x-run-id']);
    for (let after = 0; after <= all.length; after++) {
      const rest = await jackdaw.follow(runId, after);
      expect(await rest.all()).toEqual(all.slice(after));
    }
    expect(await (await jackdaw.follow(runId)).all()).toEqual(all);
    expect(await (await jackdaw.follow(runId, 999_999_999)).all()).toEqual([]);
  });

  it('replays the missed events of a running run, then continues live', async () => {
    llm.reply(WAIT('running')).reply({ text: 'and so on' });
    const stream = await jackdaw.stream({ query: 'go' });
    await tools.arrived('running');
    await stream.waitFor('tool.started');
    const late = await jackdaw.follow(String(stream.headers['x-run-id']), 2);
    await late.waitFor('tool.started');
    tools.open('running');
    const [all, rest] = await Promise.all([stream.all(), late.all()]);
    expect(journaled(rest)).toEqual(journaled(all).slice(2));
    expect(late.deltas()).toBe('and so on');
  });

  it('does not cancel its run when its client leaves', async () => {
    llm.reply(WAIT('left')).reply({ text: 'done all the same' });
    const stream = await jackdaw.stream({ query: 'go' });
    await tools.arrived('left');
    const runId = String(stream.headers['x-run-id']);
    stream.leave();
    await stream.all();
    const other = await jackdaw.follow(runId);
    tools.open('left');
    expect((await other.all()).at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'done all the same' } });
  });

  it('cancels its run when its client leaves, if the client requested that', async () => {
    llm.reply({ text: 'never to its end', stallAfter: 2 });
    const stream = await jackdaw.stream({ query: 'go', sessionId: 'gone', cancelOnDisconnect: true });
    await stream.waitFor('message.delta');
    stream.leave();
    await expectCancelled(String(stream.headers['x-run-id']), 'gone', [{ role: 'user', content: 'go' }]);
    await llm.waitForAbort();
    expect(llm.requests).toHaveLength(1);
  });

  it('ends with the event of a cancelled run, and the model request is aborted', async () => {
    llm.reply(WAIT('cancelled')).reply({ hang: true });
    tools.open('cancelled');
    const stream = await jackdaw.stream({ query: 'go', sessionId: 'cancelled' });
    await llm.waitForRequest(2);
    const runId = String(stream.headers['x-run-id']);
    const asked = await jackdaw.post(`/api/runs/${runId}/cancel`);
    expect([asked.status, asked.body['run_id']]).toEqual([202, runId]);
    await llm.waitForAbort();
    expect((await stream.all()).at(-1)?.event).toBe('run.cancelled');
    await expectCancelled(runId, 'cancelled', [
      { role: 'user', content: 'go' },
      { role: 'assistant', tool_calls: [{ id: 'c' }] },
      { role: 'tool', tool_call_id: 'c', content: 'cancelled done' },
    ]);

    const again = await jackdaw.post(`/api/runs/${runId}/cancel`);
    expect([again.status, again.body]).toMatchObject([
      409,
      { code: 'RUN_NOT_CANCELLABLE', detail: expect.stringContaining('is cancelled') },
    ]);
  });

  it('ends with one result for the call if the run is cancelled during a tool call, without another model call', async () => {
    llm.reply(WAIT('forever'));
    const stream = await jackdaw.stream({ query: 'go', sessionId: 'tool' });
    await tools.arrived('forever');
    const runId = String(stream.headers['x-run-id']);
    await jackdaw.post(`/api/runs/${runId}/cancel`);
    const events = await stream.all();
    expect(events.slice(-2)).toMatchObject([
      { event: 'tool.completed', data: { call_id: 'c', success: false, code: 'TOOL_CANCELLED' } },
      { event: 'run.cancelled', data: { finish_reason: 'cancelled', is_complete: false } },
    ]);
    await expectCancelled(runId, 'tool', [
      { role: 'user', content: 'go' },
      { role: 'assistant', tool_calls: [{ id: 'c' }] },
      { role: 'tool', tool_call_id: 'c', content: expect.stringMatching(/^Error: /) },
    ]);
    expect(llm.requests).toHaveLength(1);
  });

  it('ends when a run that waits for its session is cancelled', async () => {
    const open = gate();
    llm.reply({ gate: open.opened, text: 'first' });
    const first = await jackdaw.stream({ query: 'one', sessionId: 'queue' });
    await llm.waitForRequest();
    const second = await jackdaw.stream({ query: 'two', sessionId: 'queue' });
    const runId = String(second.headers['x-run-id']);
    expect((await jackdaw.get(`/api/runs/${runId}`)).body).toMatchObject({ status: 'queued', session_id: 'queue' });
    await jackdaw.post(`/api/runs/${runId}/cancel`);
    expect((await second.all()).map(({ event }) => event)).toEqual(['run.cancelled']);
    open.open();
    expect((await first.all()).at(-1)?.event).toBe('run.completed');
    llm.reply({ text: 'free' });
    expect((await jackdaw.chat({ query: 'x', sessionId: 'queue' })).body['result']).toBe('free');
  });

  async function expectCancelled(runId: string, sessionId: string, messages: readonly unknown[]): Promise<void> {
    const events = await (await jackdaw.follow(runId)).all();
    expect(events.at(-1)?.event).toBe('run.cancelled');
    const { body } = await jackdaw.get(`/api/runs/${runId}`);
    expect(body).toMatchObject({ status: 'cancelled', finish_reason: 'cancelled', is_complete: false });
    const stored = await jackdaw.messages(sessionId);
    expect(stored).toMatchObject(messages);
    for (const message of stored) expect(message['turn_status']).toBe('cancelled');
  }

  describe('or a plain chat', () => {
    /** Asks on a connection that the test can cut. */
    function ask(body: unknown) {
      const outgoing = request(`${jackdaw.url}/api/agent/chat`, {
        method: 'POST',
        agent: false,
        headers: { 'content-type': 'application/json' },
      });
      outgoing.on('error', () => undefined);
      outgoing.end(JSON.stringify(body));
      return outgoing;
    }

    it('is cancelled when its client leaves, if the client requested that', async () => {
      llm.reply({ calls: [{ id: 'c', name: 'double', arguments: { n: 1 } }] }).reply({ hang: true });
      const asking = ask({ query: 'go', sessionId: 'json', cancelOnDisconnect: true });
      await llm.waitForRequest(2);
      asking.destroy();
      await llm.waitForAbort();
      await expectCancelled(tools.runId, 'json', [
        { role: 'user' },
        { role: 'assistant' },
        { role: 'tool', content: '2' },
      ]);
      expect(llm.requests).toHaveLength(2);
    });

    it('is cancelled when its client leaves before the run is journaled', async () => {
      const gone = gate();
      const server: Server = jackdaw.app.getHttpServer();
      server.once('request', (_request, reply: ServerResponse) => reply.once('close', gone.open));
      const database = jackdaw.app.get(Database, { strict: false });
      const commit = database.commit.bind(database);
      database.commit = async (batch) => {
        database.commit = commit;
        asking.destroy();
        await gone.opened;
        await commit(batch);
      };
      llm.always(({ messages }) => (messages.at(-1)?.content === 'go' ? { hang: true } : { text: 'free' }));
      const asking = ask({ query: 'go', sessionId: 'hasty', cancelOnDisconnect: true });
      await gone.opened;
      // This chat queues behind the cancelled run, and so waits for its end.
      await jackdaw.chat({ query: 'x', sessionId: 'hasty' });
      expect((await jackdaw.messages('hasty'))[0]).toMatchObject({ content: 'go', turn_status: 'cancelled' });
    });

    it('continues when its client leaves, if not', async () => {
      const open = gate();
      llm
        .reply({ calls: [{ id: 'c', name: 'double', arguments: { n: 1 } }] })
        .reply({ gate: open.opened, text: 'stored' });
      const asking = ask({ query: 'go', sessionId: 'stored' });
      await llm.waitForRequest(2);
      asking.destroy();
      const stream = await jackdaw.follow(tools.runId);
      open.open();
      expect((await stream.all()).at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'stored' } });
    });
  });

  describe('of five megabytes', () => {
    const text = Array.from({ length: 5_000 }, (_, i) => `${i}`.padEnd(1_023, '.')).join(' ');

    /** Reconnects as often as necessary. @returns every journaled event */
    async function readOn(stream: EventStream): Promise<SseEvent[]> {
      const runId = String(stream.headers['x-run-id']);
      const events = journaled(await stream.all());
      while (!events.at(-1)?.event.startsWith('run.completed')) {
        const more = await jackdaw.follow(runId, events.at(-1)?.id ?? 0);
        events.push(...journaled(await more.all()));
      }
      return events;
    }

    function expectWhole(stream: EventStream, events: readonly SseEvent[]): void {
      expect(text.startsWith(stream.deltas())).toBe(true);
      expect(events.map(({ event }) => event)).toEqual(['run.started', 'message.completed', 'usage', 'run.completed']);
      expect(events.at(-1)?.data['result'] === text).toBe(true);
    }

    it('arrives complete at a client that reads', async () => {
      llm.reply({ text });
      const stream = await jackdaw.stream({ query: 'go' });
      // On a busy machine the model may be a megabyte ahead even of a client that reads.
      expectWhole(stream, await readOn(stream));
    });

    it('has no gap for a client that pauses, and can be resumed', async () => {
      llm.reply({ text });
      const stream = await jackdaw.stream({ query: 'go', sessionId: 'slow' });
      stream.pause();
      const runId = String(stream.headers['x-run-id']);
      await (await jackdaw.follow(runId)).all();
      // The run has ended before its first reader resumes.
      stream.resume();
      expectWhole(stream, await readOn(stream));
    });
  });
});
