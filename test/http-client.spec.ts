import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ServerResponse } from 'node:http';
import { JackdawClient, JackdawError } from '../src/http-client/index.js';
import { contractFetch } from './support/contract-fetch.js';
import { gate } from './support/jackdaw.js';
import { choose, pay, WaitingHost } from './support/waiting-host.js';
import { WebServer, type SeenRequest } from './support/web-server.js';

const NOBODY = 'http://127.0.0.1:1';

let host: WaitingHost;
let client: JackdawClient;
beforeAll(async () => {
  host = await WaitingHost.start();
  client = new JackdawClient({ baseUrl: host.jackdaw.url, fetch: contractFetch });
});
afterEach(() => host.reset());
afterAll(() => host.stop());

/** The error of a rejected promise. */
async function errorOf(promise: Promise<unknown>): Promise<JackdawError> {
  const error: unknown = await promise.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(JackdawError);
  return error as JackdawError;
}

describe('the client', () => {
  it('chats, and reads and lists the run', async () => {
    host.llm.reply({ text: 'Hello.' });
    const answer = await client.chat({ query: 'Hi', sessionId: 'greeting', includeDetails: true });
    expect(answer).toMatchObject({ result: 'Hello.', session_id: 'greeting', is_complete: true });
    expect(answer.steps).toHaveLength(1);
    expect(await client.runs.get(answer.run_id)).toMatchObject({ status: 'completed', result: 'Hello.' });
    const { runs } = await client.runs.list({ sessionId: 'greeting', limit: 5 });
    expect(runs.map(({ run_id }) => run_id)).toEqual([answer.run_id]);
    const { steps, events } = await client.runs.journal(answer.run_id, { limit: 10 });
    expect([steps.length, events.map(({ type }) => type)]).toEqual([
      expect.any(Number),
      ['run.started', 'message.completed', 'usage', 'run.completed'],
    ]);
  });

  it('starts a run in the background, cancels it, and starts a fork of it', async () => {
    const held = gate();
    host.llm.reply({ gate: held.opened, text: 'late' });
    const { run_id, status } = await client.runs.start({ query: 'slow' });
    expect(['queued', 'running']).toContain(status);
    await host.llm.waitForRequest();
    await client.runs.cancel(run_id);
    held.open();
    expect(await client.runs.follow(run_id).answer()).toMatchObject({ status: 'cancelled' });
    host.llm.reply({ text: 'again' });
    const fork = await client.runs.fork(run_id, { fromStep: 'model:1' });
    expect(await client.runs.follow(fork.run_id).answer()).toMatchObject({ forked_from: run_id, result: 'again' });
  });

  it('lists agents and tools, and calls a tool', async () => {
    const { agents } = await client.agents.list();
    const { tools } = await client.tools.list();
    expect([agents.map(({ name }) => name), tools.map(({ name }) => name)]).toEqual([
      ['default'],
      expect.arrayContaining(['pay', 'look']),
    ]);
    expect(await client.agents.get('default')).toEqual(agents[0]);
    expect(await client.tools.get('look')).toMatchObject({ name: 'look', effect: 'read' });
    expect(await client.tools.call('look', { arguments: { text: 'up' } })).toMatchObject({ result: 'seen up' });
    expect((await client.workflows.list()).workflows).toEqual([]);
  });

  it('creates, reads, exports, imports and deletes sessions', async () => {
    expect(await client.sessions.create({ id: 'notes', metadata: { customer: 7 } })).toMatchObject({ id: 'notes' });
    host.llm.reply({ text: 'Noted.' });
    await client.chat({ query: 'Note this', sessionId: 'notes' });
    const { messages } = await client.sessions.messages('notes');
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Note this'],
      ['assistant', 'Noted.'],
    ]);
    const session = await client.sessions.export('notes');
    await client.sessions.import({ session, id: 'notes:cöpy' });
    expect((await client.sessions.messages('notes:cöpy')).messages).toHaveLength(2);
    const { sessions } = await client.sessions.list({ limit: 200 });
    expect(sessions.map(({ id }) => id)).toEqual(expect.arrayContaining(['notes', 'notes:cöpy']));
    expect(await client.sessions.delete('notes')).toBeUndefined();
    expect(await errorOf(client.sessions.get('notes'))).toMatchObject({ status: 404, code: 'SESSION_NOT_FOUND' });
  });
});

describe('decisions of the client', () => {
  it('approve a call with other arguments', async () => {
    host.script(pay('bob'));
    const { run_id, status } = await client.chat({ query: 'go', sessionId: host.session });
    const { requests } = await client.waiting({ kind: 'approval' });
    expect([status, requests.map((each) => [each.run_id, each.request.call_id])]).toEqual([
      'waiting',
      [[run_id, 'bob']],
    ]);
    await client.runs.approve(run_id, { callId: 'bob', arguments: { to: 'bob', amount: 2 } });
    expect(await client.runs.follow(run_id).answer()).toMatchObject({ status: 'completed', result: 'the end' });
    expect(host.tools.done).toEqual(['pay bob 2']);
  });

  it('deny a call, which is then not executed', async () => {
    const { id } = await host.ask(pay('bob'));
    await client.runs.deny(id, { reason: 'too much' });
    const { tool_results } = await client.runs.follow(id).answer();
    expect(tool_results).toMatchObject([{ success: false, error: expect.stringContaining('too much') }]);
    expect(host.tools.done).toEqual([]);
    expect(await errorOf(client.runs.approve(id))).toMatchObject({ status: 409, code: 'RUN_NOT_WAITING' });
  });

  it('answer a question', async () => {
    const { id } = await host.ask(choose('Rome'));
    expect(await errorOf(client.runs.input(id, { value: 'BA3' }))).toMatchObject({ status: 400 });
    await client.runs.input(id, { value: 'KL2' });
    expect(await client.runs.follow(id).answer()).toMatchObject({ status: 'completed' });
    expect(host.tools.done).toEqual(['choose Rome KL2']);
  });

  it('settle no call of a run that has ended', async () => {
    host.llm.reply({ text: 'done' });
    const { run_id } = await client.chat({ query: 'go' });
    const error = await errorOf(client.runs.settle(run_id, { outcome: 'succeeded', result: 1 }));
    expect(error).toMatchObject({ status: 409, code: 'RUN_NOT_WAITING' });
  });
});

describe('an id', () => {
  it.each(['', '.', '..'])('is refused if the path would be that of another route: "%s"', async (id) => {
    await expect(client.sessions.get(id)).rejects.toThrow(TypeError);
  });
});

describe('an error', () => {
  it('has the code, the message and the request id of the problem details', async () => {
    const error = await errorOf(client.chat({ query: '' }));
    expect(error).toMatchObject({ status: 400, code: 'VALIDATION_FAILED', requestId: expect.stringMatching(/./) });
    expect(error.message).toContain('query');
    expect(error.problem?.errors?.map(({ field }) => field)).toEqual(['query']);
  });

  it('of a failed run has the run, which is not started again', async () => {
    host.llm.reply({ status: 401, body: {} });
    const error = await errorOf(client.chat({ query: 'go' }));
    expect(error).toMatchObject({ status: 502, code: 'MODEL_AUTHENTICATION', runId: expect.any(String) });
    expect(await client.runs.get(error.runId!)).toMatchObject({ status: 'failed', error: { code: error.code } });
    expect(host.llm.requests).toHaveLength(1);
  });

  it('of the connection and of the time have codes of their own', async () => {
    const lost = await errorOf(new JackdawClient({ baseUrl: NOBODY, retries: 0 }).agents.list());
    expect(lost).toMatchObject({ status: 0, code: 'CONNECTION_FAILED', cause: expect.any(Error) });
    const held = gate();
    host.llm.reply({ gate: held.opened, text: 'late' });
    const late = await errorOf(client.chat({ query: 'slow', cancelOnDisconnect: true }, { timeoutMs: 200 }));
    expect(late).toMatchObject({ status: 0, code: 'CLIENT_TIMEOUT' });
    held.open();
  });

  it('is the reason of an aborted signal', async () => {
    const held = gate();
    host.llm.reply({ gate: held.opened, text: 'late' });
    const controller = new AbortController();
    const answer = client.chat({ query: 'slow', cancelOnDisconnect: true }, { signal: controller.signal });
    await host.llm.waitForRequest();
    controller.abort(new Error('left'));
    await expect(answer).rejects.toThrow('left');
    await host.llm.waitForAbort();
    held.open();
  });
});

describe('a client behind a proxy', () => {
  let proxy: WebServer;
  beforeAll(async () => {
    proxy = await WebServer.start();
  });
  afterEach(() => proxy.reset());
  afterAll(() => proxy.close());

  /** Forwards a request to Jackdaw; the first answer is lost. */
  async function forward({ method, path, headers, body }: SeenRequest, reply: ServerResponse, count: number) {
    const { 'content-type': type = '', 'idempotency-key': key = '' } = headers as Record<string, string>;
    const init = method === 'POST' ? { method, headers: { 'content-type': type, 'idempotency-key': key }, body } : {};
    const response = await fetch(host.jackdaw.url + path, init);
    const text = await response.text();
    if (count === 1) reply.destroy();
    else reply.writeHead(response.status, { 'content-type': response.headers.get('content-type') ?? '' }).end(text);
  }

  it.each([
    ['a chat', (behind: JackdawClient) => behind.chat({ query: 'go' })],
    ['a stream', (behind: JackdawClient) => behind.stream({ query: 'go' }).answer()],
  ])('gets the answer of the one run of %s after the first answer is lost', async (_title, ask) => {
    proxy.onAny((...exchange) => void forward(...exchange));
    host.llm.reply({ text: 'once' });
    const { result } = await ask(new JackdawClient({ baseUrl: proxy.url }));
    expect([result, host.llm.requests.length]).toEqual(['once', 1]);
    const keys = proxy.requests
      .filter(({ method }) => method === 'POST')
      .map(({ headers }) => headers['idempotency-key']);
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
  });

  it('repeats a refused request, and stops after its number of repetitions', async () => {
    proxy.onAny((_request, reply) => void reply.writeHead(503, { 'retry-after': '0' }).end('<h1>Busy</h1>'));
    const error = await errorOf(new JackdawClient({ baseUrl: proxy.url, retries: 1 }).runs.approve('r'));
    expect(error).toMatchObject({ status: 503, code: 'INVALID_RESPONSE', retryAfterMs: 0 });
    expect(proxy.requests).toHaveLength(2);
  });

  it('does not wait for longer than a minute', async () => {
    proxy.onAny((_request, reply) => void reply.writeHead(429, { 'retry-after': '3600' }).end());
    expect(await errorOf(new JackdawClient({ baseUrl: proxy.url }).chat({ query: 'go' }))).toMatchObject({
      status: 429,
      retryAfterMs: 3_600_000,
    });
    expect(proxy.requests).toHaveLength(1);
  });

  it('does not repeat a decision whose answer is lost', async () => {
    proxy.onAny((_request, reply) => void reply.destroy());
    expect((await errorOf(new JackdawClient({ baseUrl: proxy.url }).runs.approve('r'))).code).toBe('CONNECTION_FAILED');
    expect(proxy.requests).toHaveLength(1);
  });

  it('sends its key, its headers and its path prefix, and reports an answer that is no JSON', async () => {
    proxy.onAny((_request, reply) => void reply.end('<h1>Welcome</h1>'));
    const options = { baseUrl: `${proxy.url}/backend/`, prefix: '/ai/', apiKey: 'k1', headers: { 'x-team': 'a' } };
    const error = await errorOf(new JackdawClient(options).sessions.list({ cursor: 'a&b', limit: 2 }));
    expect(error).toMatchObject({ status: 200, code: 'INVALID_RESPONSE' });
    expect(proxy.requests).toMatchObject([
      { path: '/backend/ai/sessions?cursor=a%26b&limit=2', headers: { authorization: 'Bearer k1', 'x-team': 'a' } },
    ]);
    await errorOf(new JackdawClient(options).sessions.get('a/b?c'));
    expect(proxy.requests.at(-1)?.path).toBe('/backend/ai/sessions/a%2Fb%3Fc');
  });
});
