import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../src/persistence/index.js';
import { FakeLlm } from './support/fake-llm.js';
import type { EventStream } from './support/event-stream.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { TestTools } from './support/test.tool.js';

const KEYS = ['canary-key-one', 'canary-key-two'];
const RETRY = { LLM_MAX_ATTEMPTS: '3', LLM_RETRY_DELAY_MS: '0' };
const BUSY = { status: 429, body: {}, headers: { 'retry-after': '30' } };

let llm: FakeLlm;
let jackdaw: Jackdaw | null = null;
beforeAll(async () => {
  llm = await FakeLlm.start();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await jackdaw?.stop();
  jackdaw = null;
  llm.reset();
});
afterAll(() => llm.close());

async function start(env: Record<string, string>): Promise<Jackdaw> {
  return (jackdaw = await startJackdaw({ llm, env, tools: [new TestTools()] }));
}

function dataOf({ events }: EventStream, ...types: string[]): unknown[] {
  return events.map(({ data }) => data).filter(({ type }) => types.includes(type));
}

/** The keys that were used, in order. */
const used = () => llm.envelopes.map(({ headers }) => String(headers.authorization).replace('Bearer ', ''));

/** All rows of the database, as text. */
async function stored({ app }: Jackdaw): Promise<string> {
  const database = app.get(Database, { strict: false });
  const tables = await database.query<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
  return JSON.stringify(await Promise.all(tables.map(({ name }) => database.query(`SELECT * FROM ${name}`))));
}

describe('a model that fails', () => {
  it('is retried, and a started stream starts again', async () => {
    const server = await start(RETRY);
    llm.reply({ text: 'this is wro', resetAfter: 3 }, { status: 500, body: {} }, { text: 'this is right' });
    const stream = await server.stream({ query: 'hi' });
    await stream.waitFor('run.completed');
    expect(dataOf(stream, 'message.delta', 'step.restarted', 'message.completed')).toMatchObject([
      { text: 'this' },
      { text: ' is' },
      { type: 'step.restarted', text: '' },
      { text: 'this' },
      { text: ' is' },
      { text: ' right' },
      { type: 'message.completed', text: 'this is right' },
    ]);
    expect(llm.requests).toHaveLength(3);
  });

  it('is not called while its circuit is open, and health reports it', async () => {
    const server = await start({ LLM_BREAKER_FAILURES: '5' });
    llm.always({ status: 500, body: {} });
    // Neither the window of outcomes nor the pause ends during the test.
    vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    for (let chat = 0; chat < 20; chat++)
      expect((await server.chat({ query: 'hi' })).body).toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    const { status, body } = await server.chat({ query: 'hi' });
    expect([status, body['code']]).toEqual([503, 'MODEL_CIRCUIT_OPEN']);
    expect(llm.requests).toHaveLength(20);
    expect((await server.get('/api/agent/health')).body).toMatchObject({
      details: { model: { circuits: { [`openai:${llm.requests[0]!.model}`]: 'open' } } },
    });
  });

  it('is not awaited beyond the run’s deadline', async () => {
    const server = await start({ ...RETRY, AGENT_RUN_TIMEOUT_MS: '20000' });
    llm.always(BUSY);
    const { status, body } = await server.chat({ query: 'hi' });
    expect([status, body['code']]).toEqual([503, 'MODEL_RATE_LIMITED']);
    expect(llm.requests).toHaveLength(1);
  });

  it.each(['cancel', 'deadline'])('receives a %s at its socket, and gets no further request', async (what) => {
    const server = await start({ ...RETRY, ...(what === 'deadline' && { AGENT_RUN_TIMEOUT_MS: '600' }) });
    llm.always({ text: 'never to its end', stallAfter: 2 });
    const stream = await server.stream({ query: 'hi' });
    await llm.waitForRequest();
    if (what === 'cancel') await server.post(`/api/runs/${stream.runId}/cancel`);
    await llm.waitForAbort();
    await stream.waitFor(what === 'cancel' ? 'run.cancelled' : 'run.failed');
    expect(llm.requests).toHaveLength(1);
  });

  it('occupies at most its configured number of concurrent calls', async () => {
    const server = await start({ LLM_CONCURRENCY: '1', LLM_QUEUE_LIMIT: '0' });
    llm.reply({ hang: true });
    const first = await server.stream({ query: 'one' });
    await llm.waitForRequest();
    expect((await server.chat({ query: 'two' })).body).toMatchObject({ status: 503, code: 'MODEL_BUSY' });
    await server.post(`/api/runs/${first.runId}/cancel`);
    await first.waitFor('run.cancelled');
    llm.reply({ text: 'three' });
    expect((await server.chat({ query: 'three' })).body).toMatchObject({ result: 'three' });
  });
});

describe('a fallback model', () => {
  let other: FakeLlm;
  beforeAll(async () => {
    other = await FakeLlm.start();
  });
  afterEach(() => other.reset());
  afterAll(() => other.close());
  const fallback = () => ({
    LLM_FALLBACK: 'anthropic:claude-x,ollama:qwen3',
    ANTHROPIC_API_KEY: 'a',
    ANTHROPIC_BASE_URL: other.url,
    OLLAMA_BASE_URL: other.url,
  });

  it('continues in the middle of a turn when the first model fails, and the run reports which model answered', async () => {
    const server = await start(fallback());
    llm.reply({ calls: [{ name: 'double', arguments: { n: 21 } }] }, { text: 'partial ', resetAfter: 2 });
    other.reply({ status: 500, body: {} }, { text: 'It is 42.' });
    const stream = await server.stream({ query: 'double 21', sessionId: 's' });
    await stream.waitFor('run.completed');
    const first = `openai:${llm.requests[0]!.model}`;
    expect(dataOf(stream, 'model.switched', 'step.restarted', 'run.completed')).toMatchObject([
      { type: 'step.restarted', iteration: 2 },
      { type: 'model.switched', iteration: 2, from: first, to: 'anthropic:claude-x', code: 'MODEL_BAD_REPLY' },
      { type: 'model.switched', from: 'anthropic:claude-x', to: 'ollama:qwen3', code: 'MODEL_UNAVAILABLE' },
      { type: 'run.completed', result: 'It is 42.', model: 'qwen3' },
    ]);
    // The same history in the format of each provider.
    expect(other.requests[0]!.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(other.requests[1]!.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
    llm.reply({ text: 'back again' });
    expect((await server.chat({ query: 'and now?', sessionId: 's' })).body).toMatchObject({ result: 'back again' });
    const run = await server.get(`/api/runs/${stream.runId}`);
    expect(run.body).toMatchObject({ result: 'It is 42.', model: 'qwen3' });
  });

  it('requires its configuration at the start', async () => {
    const refused = start({ LLM_FALLBACK: 'deepseek:deepseek-chat' });
    await expect(refused).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('DEEPSEEK_API_KEY'),
    });
    await expect(start({ LLM_FALLBACK: 'unknown:x' })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it('does not receive a request that the first model refused', async () => {
    const server = await start(fallback());
    llm.always({ status: 400, body: { error: { message: 'no such tool' } } });
    expect((await server.chat({ query: 'hi' })).body).toMatchObject({ code: 'MODEL_REFUSED' });
    expect(other.requests).toEqual([]);
  });
});

it('requests are signed with the first of LLM_SIGNING_KEYS, and no key is disclosed', async () => {
  const [now, before] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'));
  const server = await start({ LLM_SIGNING_KEYS: `k2:${now},k1:${before}`, LOG_LEVEL: 'trace' });
  llm.reply({ text: 'fine' }, { status: 401, body: { error: { message: 'wrong signature' } } });
  expect((await server.chat({ query: 'hi' })).body).toMatchObject({ result: 'fine' });
  const { text } = await server.chat({ query: 'again' });
  for (const { headers } of llm.envelopes) {
    expect(headers['signature-input']).toContain('keyid="k2"');
    expect(headers['content-digest']).toMatch(/^sha-256=:/);
  }
  for (const key of [now!, before!])
    expect(text + JSON.stringify(server.log) + (await stored(server))).not.toContain(key);
});

describe('several keys', () => {
  const [one, two] = KEYS as [string, string];

  it('replace each other when they are limited or refused, and are not disclosed', async () => {
    const server = await start({ OPENAI_API_KEY: '', OPENAI_API_KEYS: KEYS.join(','), LOG_LEVEL: 'trace' });
    llm.reply(BUSY, { text: 'by two' }, { status: 401, body: { error: { message: `bad key ${two}` } } });
    const answers = [await server.chat({ query: 'hi' }), await server.chat({ query: 'again' })];
    expect(answers[0]!.body).toMatchObject({ result: 'by two' });
    expect(answers[1]!.body).toMatchObject({ status: 503, code: 'MODEL_RATE_LIMITED' });
    expect(used()).toEqual([one, two, two]);
    const health = await server.get('/api/agent/health');
    expect(health.body).toMatchObject({
      details: { model: { keys: { openai: { total: 2, cooling: 1, retired: 1 } } } },
    });
    const everything = [...answers, health].map(({ text }) => text).join() + JSON.stringify(server.log);
    for (const key of KEYS) expect(everything + (await stored(server))).not.toContain(key);
  });

  it('are read from a file, and change with it', async () => {
    const file = join(newFolder(), 'keys');
    writeFileSync(file, `${one}\n`);
    const server = await start({ OPENAI_API_KEY: '', OPENAI_API_KEY_FILE: file });
    llm.always({ text: 'fine' });
    await server.chat({ query: 'hi' });
    expect(used()).toEqual([one]);
    writeFileSync(file, '');
    writeFileSync(file, `${two}\n`);
    while (used().at(-1) !== two) await server.chat({ query: 'again' });
  });

  it('must exist when they are configured from a file', async () => {
    const missing = join(newFolder(), 'none');
    await expect(start({ OPENAI_API_KEY: '', OPENAI_API_KEY_FILE: missing })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('OPENAI_API_KEY_FILE'),
    });
  });
});
