import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { JackdawClient, type RunEvent } from '../src/http-client/index.js';
import { assertEvent } from './support/contract.js';
import { FakeLlm } from './support/fake-llm.js';
import { FaultProxy } from './support/fault-proxy.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { PacedChatModel } from './support/paced-chat-model.js';
import { pay, WaitingHost } from './support/waiting-host.js';
import { WebServer } from './support/web-server.js';

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe('a stream of the client', () => {
  let model: PacedChatModel;
  let jackdaw: Jackdaw;
  let proxy: FaultProxy;
  let client: JackdawClient;
  beforeAll(async () => {
    model = new PacedChatModel();
    jackdaw = await startJackdaw({ options: { chatModel: model } });
    proxy = await FaultProxy.start(new URL(jackdaw.url), 80);
    client = new JackdawClient({ baseUrl: proxy.through(jackdaw.url) });
  });
  afterEach(() => proxy.become('pass'));
  afterAll(async () => {
    await proxy.close();
    await jackdaw.stop();
  });

  /** Answers the next request to the model. */
  async function answer(text: string): Promise<void> {
    const reply = await model.next();
    reply.say(text);
    reply.finish();
  }

  it('has the events of the run, as documented', async () => {
    const stream = client.stream({ query: 'go' });
    expect([stream.runId, stream.lastEventId]).toEqual([undefined, undefined]);
    const answered = answer('Hi');
    const events = await all(stream);
    await answered;
    for (const event of events) assertEvent(event);
    expect(events.map(({ type }) => type)).toEqual([
      'run.started',
      'step.started',
      'message.delta',
      'message.completed',
      'usage',
      'run.completed',
    ]);
    expect(events[0]).toMatchObject({ type: 'run.started', run_id: stream.runId });
    expect(await stream.answer()).toMatchObject({ run_id: stream.runId, status: 'completed', result: 'Hi' });
    expect(await all(stream)).toEqual([]);
  });

  it('shows the text so far, and replaces it when the model is asked again', async () => {
    const stream = client.stream({ query: 'go' });
    const texts = stream.text();
    const next = async () => (await texts.next()).value;
    const first = next();
    const reply = await model.next();
    reply.say('Grüß ');
    expect(await first).toBe('Grüß ');
    reply.say('Gott');
    expect(await next()).toBe('Grüß Gott');
    reply.finish();
    expect(await texts.next()).toEqual({ done: true, value: undefined });
    expect(await stream.answer()).toMatchObject({ result: 'Grüß Gott' });
  });

  it('resumes at the exact character after the connection is cut, with one run', async () => {
    const stream = client.stream({ query: 'go' });
    const events = stream[Symbol.asyncIterator]();
    const received: RunEvent[] = [];
    const take = async (type: RunEvent['type']) => {
      for (;;) {
        const { value } = await events.next();
        if (!value) throw new Error(`The stream ended without ${type}`);
        received.push(value);
        if (value.type === type) return;
      }
    };
    const taken = take('message.delta');
    const reply = await model.next();
    reply.say('one ');
    await taken;
    proxy.become('cut');
    reply.say('two ');
    const more = take('message.delta');
    proxy.become('pass');
    await more;
    reply.say('three');
    reply.finish();
    await take('run.completed');
    const deltas = received.flatMap((event) => (event.type === 'message.delta' ? [event.text] : []));
    expect(deltas.join('')).toBe('one two three');
    expect(received.filter(({ type }) => type === 'run.started')).toHaveLength(1);
    const { runs } = await client.runs.list({ text: 'go' });
    expect(runs.filter(({ status }) => status === 'running')).toEqual([]);
  });

  it('reconnects when a connection has no data for a while, and when a new one gets no response', async () => {
    let requests = 0;
    const observed: typeof fetch = (...request) => {
      requests++;
      if (requests === 3) proxy.become('pass');
      return fetch(...request);
    };
    const impatient = new JackdawClient({ baseUrl: proxy.through(jackdaw.url), idleTimeoutMs: 300, fetch: observed });
    const stream = impatient.stream({ query: 'go' });
    const texts = stream.text();
    const first = texts.next();
    const reply = await model.next();
    reply.say('a');
    expect((await first).value).toBe('a');
    proxy.become('silent');
    reply.say('b');
    reply.finish();
    expect((await all(texts)).at(-1)).toBe('ab');
  });

  it('ends at an abort while the run continues, and resumes in another stream', async () => {
    const controller = new AbortController();
    const stream = client.stream({ query: 'go' }, { signal: controller.signal });
    const texts = stream.text();
    const first = texts.next();
    const reply = await model.next();
    reply.say('a');
    await first;
    controller.abort();
    expect(await texts.next()).toEqual({ done: true, value: undefined });
    await expect(stream.answer()).rejects.toThrow('aborted');
    reply.say('b');
    reply.finish();
    const rest = client.runs.follow(stream.runId!, { after: stream.lastEventId! });
    expect(await rest.answer()).toMatchObject({ status: 'completed', result: 'ab' });
  });

  it('cancels the run at an abort if asked', async () => {
    const controller = new AbortController();
    const stream = client.stream({ query: 'go' }, { signal: controller.signal, cancelOnAbort: true });
    const texts = stream.text();
    const first = texts.next();
    (await model.next()).say('a');
    await first;
    controller.abort();
    await texts.next();
    expect(await client.runs.follow(stream.runId!).answer()).toMatchObject({ status: 'cancelled' });
  });

  it('continues in a further iteration after an early end of the first', async () => {
    const stream = client.stream({ query: 'go' });
    const answered = answer('all');
    const types: string[] = [];
    for await (const { type } of stream) {
      types.push(type);
      if (type === 'run.started') break;
    }
    for await (const { type } of stream) types.push(type);
    await answered;
    expect(types.filter((type) => type === 'run.started' || type === 'run.completed')).toEqual([
      'run.started',
      'run.completed',
    ]);
  });

  it('is read by one iteration at a time', async () => {
    const stream = client.runs.follow('unknown');
    const first = stream[Symbol.asyncIterator]().next();
    await expect(stream.answer()).rejects.toThrow('already being read');
    await expect(first).rejects.toMatchObject({ code: 'RUN_NOT_FOUND', status: 404 });
  });
});

describe('a stream that loses its connection', () => {
  let server: WebServer;
  beforeAll(async () => {
    server = await WebServer.start();
  });
  afterEach(() => server.reset());
  afterAll(() => server.close());
  const HEAD = { 'content-type': 'text/event-stream', 'x-run-id': 'r1' };

  it('resumes after stream.closed, and stops after its number of reconnections without an event', async () => {
    const closed = 'event: stream.closed\ndata: {"type":"stream.closed","run_id":"r1","code":"SHUTTING_DOWN"}\n\n';
    server.onAny((_request, reply, count) => {
      const thought = 'id: 1\nevent: thought\ndata: {"type":"thought","iteration":1,"text":"so"}\n\n';
      reply.writeHead(200, HEAD).end(count === 1 ? thought + closed : closed);
    });
    const stream = new JackdawClient({ baseUrl: server.url, reconnects: 2 }).stream({ query: 'go' });
    const types: string[] = [];
    const reading = async () => {
      for await (const { type } of stream) types.push(type);
    };
    await expect(reading()).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      cause: { message: 'stream.closed: SHUTTING_DOWN' },
    });
    expect(types).toEqual(['thought']);
    expect(server.requests.map(({ method, path, headers }) => [method, path, headers['last-event-id']])).toEqual([
      ['POST', '/api/agent/chat/stream', undefined],
      ['GET', '/api/runs/r1/events', '1'],
      ['GET', '/api/runs/r1/events', '1'],
    ]);
  });

  it('counts its reconnections again after each event', async () => {
    server.onAny((_request, reply, count) => {
      const event = count < 5 ? { type: 'thought', text: String(count) } : { type: 'run.cancelled', run_id: 'r1' };
      if (count % 2 === 0) reply.destroy();
      else reply.writeHead(200, HEAD).end(`id: ${count}\ndata: ${JSON.stringify(event)}\n\n`);
    });
    const stream = new JackdawClient({ baseUrl: server.url, reconnects: 2 }).stream({ query: 'go' });
    expect((await all(stream)).map(({ type }) => type)).toEqual(['thought', 'thought', 'run.cancelled']);
    expect(server.requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '1', '1', '3', '3']);
  });

  it('sends the first request again with the same key until it has a run', async () => {
    server.onAny((_request, reply) => void reply.destroy());
    const stream = new JackdawClient({ baseUrl: server.url, retries: 1 }).stream({ query: 'go' });
    await expect(stream.answer()).rejects.toMatchObject({ code: 'CONNECTION_FAILED' });
    expect(server.requests.map(({ path }) => path)).toEqual(['/api/agent/chat/stream', '/api/agent/chat/stream']);
    const [key, again] = server.requests.map(({ headers }) => headers['idempotency-key']);
    expect([key, again]).toEqual([expect.stringMatching(/^\w{32}$/), key]);
  });
});

describe('the stream of a run that waits', () => {
  let host: WaitingHost;
  beforeAll(async () => {
    host = await WaitingHost.start();
  });
  afterAll(() => host.stop());

  it('ends, and continues after the decision', async () => {
    const client = new JackdawClient({ baseUrl: host.jackdaw.url });
    host.script(pay('bob'));
    const stream = client.stream({ query: 'go', sessionId: host.session });
    expect((await all(stream)).at(-1)).toMatchObject({ type: 'run.waiting', reason: 'approval' });
    const later = client.runs.follow(stream.runId!, { after: stream.lastEventId! });
    expect(await all(later)).toEqual([]);
    expect(await later.answer()).toMatchObject({ status: 'waiting', waiting: [{ call_id: 'bob' }] });
    await client.runs.approve(stream.runId!);
    expect((await all(stream.text())).at(-1)).toBe('the end');
    const whole = await all(client.runs.follow(stream.runId!));
    expect(whole.map(({ type }) => type)).toEqual(expect.arrayContaining(['run.waiting', 'run.completed']));
  });
});

describe('the stream of a run that fails', () => {
  it('has run.failed as its last event, and throws the failure in place of a text', async () => {
    const llm = await FakeLlm.start();
    const jackdaw = await startJackdaw({ llm });
    const client = new JackdawClient({ baseUrl: jackdaw.url });
    llm.reply({ status: 401, body: {} }, { status: 401, body: {} });
    expect((await all(client.stream({ query: 'go' }))).at(-1)).toMatchObject({ type: 'run.failed' });
    const stream = client.stream({ query: 'go' });
    const failure = { status: 0, code: 'MODEL_AUTHENTICATION' };
    await expect(all(stream.text())).rejects.toMatchObject(failure);
    await expect(stream.answer()).rejects.toMatchObject({ ...failure, runId: stream.runId });
    await jackdaw.stop();
    await llm.close();
  });
});
