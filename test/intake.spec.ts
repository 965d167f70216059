import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../src/persistence/index.js';
import { RunExpiryService } from '../src/run/decision/run-expiry.service.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeRequest } from './support/fake-llm.types.js';
import { gate, startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';

let llm: FakeLlm;
let jackdaw: Jackdaw | undefined;

beforeAll(async () => {
  llm = await FakeLlm.start();
});
afterEach(async () => {
  await jackdaw?.stop();
  jackdaw = undefined;
  llm.reset();
});
afterAll(() => llm.close());

async function start(env: Record<string, string> = {}, dataDir?: string): Promise<Jackdaw> {
  jackdaw = await startJackdaw({ llm, env, ...(dataDir !== undefined && { dataDir }) });
  return jackdaw;
}

function submit(server: Jackdaw, body: object, headers: Record<string, string> = {}): Promise<Answer> {
  return server.post('/api/agent/runs', body, headers);
}

function queryOf({ messages }: FakeRequest): string {
  return String(messages.findLast(({ role }) => role === 'user')?.content);
}

function runIdOf({ body }: Answer): string {
  return String(body['run_id']);
}

async function ended(server: Jackdaw, runId: string): Promise<Answer> {
  await (await server.follow(runId)).all();
  return server.get(`/api/runs/${runId}`);
}

describe('POST agent/runs', () => {
  it('accepts the run at once with its location and executes it in the background', async () => {
    const server = await start();
    const { opened, open } = gate();
    llm.reply({ text: 'done', gate: opened });
    const accepted = await submit(server, { query: 'take your time' });
    expect(accepted).toMatchObject({ status: 202, body: { result: '', is_complete: false } });
    expect(['queued', 'running']).toContain(accepted.body['status']);
    expect(accepted.headers.get('location')).toBe(`/api/runs/${runIdOf(accepted)}`);
    open();
    expect((await ended(server, runIdOf(accepted))).body).toMatchObject({ status: 'completed', result: 'done' });
  });

  it('refuses an invalid body and names each field', async () => {
    const server = await start();
    const answer = await submit(server, { query: ' ', priority: 10, deadlineMs: 0, extra: 1 });
    expect(answer.status).toBe(400);
    for (const field of ['query', 'priority', 'deadlineMs', 'extra']) expect(answer.text).toContain(field);
  });

  it('fails a run at its deadline and stores the question in the turn', async () => {
    const server = await start();
    llm.reply({ hang: true });
    const accepted = await submit(server, { query: 'too slow', deadlineMs: 50, sessionId: 'late' });
    const { body } = await ended(server, runIdOf(accepted));
    expect(body).toMatchObject({ status: 'failed', finish_reason: 'timeout', error: { code: 'RUN_TIMEOUT' } });
    expect((await server.get('/api/sessions/late/messages')).body['messages']).toHaveLength(1);
  });

  it('never starts a queued run whose deadline has passed', async () => {
    const server = await start({ RUN_CONCURRENCY: '1' });
    const { opened, open } = gate();
    llm.reply({ text: 'first', gate: opened }).always({ text: 'not to be said' });
    const first = await submit(server, { query: 'one' });
    await llm.waitForRequest();
    const late = await submit(server, { query: 'two', deadlineMs: 1 });
    open();
    expect((await ended(server, runIdOf(late))).body).toMatchObject({ error: { code: 'RUN_TIMEOUT' }, iterations: 0 });
    await ended(server, runIdOf(first));
    expect(llm.requests).toHaveLength(1);
  });

  it('fails a run that could not start by its deadline while another run occupies its session', async () => {
    const server = await start();
    llm.reply({ hang: true });
    await submit(server, { query: 'one', sessionId: 's' });
    await llm.waitForRequest();
    const late = await submit(server, { query: 'two', sessionId: 's', deadlineMs: 1 });
    const open = await submit(server, { query: 'three', sessionId: 's', deadlineMs: 60_000 });
    const stream = await server.follow(runIdOf(late));
    await server.app.get(RunExpiryService, { strict: false }).expireDue();
    expect((await stream.all()).at(-1)).toMatchObject({
      event: 'run.failed',
      data: { error: { code: 'RUN_TIMEOUT' } },
    });
    expect((await server.get(`/api/runs/${runIdOf(late)}`)).body).toMatchObject({
      status: 'failed',
      finish_reason: 'timeout',
    });
    expect((await server.get(`/api/runs/${runIdOf(open)}`)).body['status']).toBe('queued');
  });
});

describe('run concurrency', () => {
  it('starts at most the limit of runs at once, the highest priority first', async () => {
    const server = await start({ RUN_CONCURRENCY: '2' });
    const { opened, open } = gate();
    let atOnce = 0;
    let most = 0;
    llm.always(async (request) => {
      most = Math.max(most, ++atOnce);
      if (queryOf(request).startsWith('first')) await opened;
      atOnce--;
      return { text: 'done' };
    });
    const firsts = await Promise.all(['first a', 'first b'].map((query) => submit(server, { query })));
    await llm.waitForRequest(2);
    const rest: Answer[] = [];
    for (const priority of [0, 5, 9, 5]) rest.push(await submit(server, { query: `priority ${priority}`, priority }));
    open();
    for (const answer of [...firsts, ...rest]) await ended(server, runIdOf(answer));
    expect(most).toBe(2);
    expect(llm.requests.slice(2).map(queryOf).toSorted()).toEqual([
      'priority 0',
      'priority 5',
      'priority 5',
      'priority 9',
    ]);
    expect(queryOf(llm.requests[2]!)).toBe('priority 9');
    expect(queryOf(llm.requests[5]!)).toBe('priority 0');
  });

  it('queues a chat until a slot is free, then answers it', async () => {
    const server = await start({ RUN_CONCURRENCY: '1' });
    const { opened, open } = gate();
    llm.reply({ text: 'slow', gate: opened }, { text: 'quick' });
    const slow = submit(server, { query: 'slow' });
    await llm.waitForRequest();
    const chat = server.chat({ query: 'quick' });
    await slow;
    open();
    expect(await chat).toMatchObject({ status: 200, body: { result: 'quick' } });
  });

  it.each(['RUN_TENANT_CONCURRENCY', 'RUN_AGENT_CONCURRENCY'])('is limited by %s', async (limit) => {
    const server = await start({ [limit]: '1' });
    let atOnce = 0;
    let most = 0;
    llm.always(async () => {
      most = Math.max(most, ++atOnce);
      await new Promise(setImmediate);
      atOnce--;
      return { text: 'done' };
    });
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => server.chat({ query: `chat ${i}` })));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(most).toBe(1);
  });
});

describe('a full run queue', () => {
  it('refuses runs with 503 and a Retry-After, and journals nothing', async () => {
    const server = await start({ RUN_CONCURRENCY: '1', RUN_QUEUE_LIMIT: '1', RUN_QUEUE_WAIT_MS: '100' });
    const { opened, open } = gate();
    llm.reply({ text: 'slow', gate: opened }).always({ text: 'ok' });
    const first = await submit(server, { query: 'continues' });
    await llm.waitForRequest();
    const second = await submit(server, { query: 'waits' });
    const refused = [await submit(server, { query: 'too many' }), await server.chat({ query: 'too many' })];
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'RUN_QUEUE_FULL' } });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    open();
    for (const answer of [first, second]) await ended(server, runIdOf(answer));
    const rows = await server.app.get(Database, { strict: false }).query('SELECT id FROM run');
    expect(rows).toHaveLength(2);
  });

  it('refuses runs of one tenant with 429', async () => {
    const server = await start({ RUN_CONCURRENCY: '1', RUN_TENANT_QUEUE_LIMIT: '1' });
    llm.always({ hang: true });
    await submit(server, { query: 'continues' });
    await llm.waitForRequest();
    await submit(server, { query: 'waits' });
    const refused = await submit(server, { query: 'too many' });
    expect(refused).toMatchObject({ status: 429, body: { code: 'TENANT_QUEUE_FULL' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('limits the rate of simultaneous chats', async () => {
    const server = await start({ RUN_TENANT_RATE_PER_MINUTE: '5' });
    llm.always({ text: 'ok' });
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => server.chat({ query: `chat ${i}` })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(7);
    for (const { headers, body } of refused) {
      expect(body['code']).toBe('RUN_RATE_LIMITED');
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
    }
  });
});

describe.each(['/api/agent/chat', '/api/agent/runs'])('an Idempotency-Key on POST %s', (path) => {
  const key = { 'idempotency-key': 'order-4711' };

  it('starts one run for 50 simultaneous requests', async () => {
    const server = await start();
    llm.always({ text: 'once' });
    const answers = await Promise.all(Array.from({ length: 50 }, () => server.post(path, { query: 'only once' }, key)));
    expect(new Set(answers.map(({ status }) => status)).size).toBe(1);
    expect(new Set(answers.map(runIdOf)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(49);
    await ended(server, runIdOf(answers[0]!));
    expect(llm.requests).toHaveLength(1);
  });

  it('refuses another body', async () => {
    const server = await start();
    llm.always({ text: 'once' });
    await server.post(path, { query: 'only once' }, key);
    expect(await server.post(path, { query: 'another thing' }, key)).toMatchObject({
      status: 422,
      body: { code: 'IDEMPOTENCY_KEY_REUSED' },
    });
  });

  it('survives a restart and identifies its request for 24 hours', async () => {
    const first = await start();
    llm.always({ text: 'once' });
    const started = await first.post(path, { query: 'only once' }, key);
    await ended(first, runIdOf(started));
    await first.app.close();
    const second = await start({}, first.dataDir);
    const duplicate = await second.post(path, { query: 'only once' }, key);
    expect(runIdOf(duplicate)).toBe(runIdOf(started));
    expect(llm.requests).toHaveLength(1);
    const yesterday = Date.now() - 24 * 3_600_000;
    await second.app
      .get(Database, { strict: false })
      .commit([{ sql: 'UPDATE idempotency_key SET created_at = ?', params: [yesterday] }]);
    expect(runIdOf(await second.post(path, { query: 'only once' }, key))).not.toBe(runIdOf(started));
  });

  it.each(['', 'two words', 'x'.repeat(256)])('refuses an invalid key: %o', async (wrong) => {
    const server = await start();
    const answer = await server.post(path, { query: 'hello' }, { 'idempotency-key': wrong });
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
  });
});
