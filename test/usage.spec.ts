import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '../src/persistence/index.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

const ANN = keyHolder('ann', 'a', 'user');
const EVE = keyHolder('eve', 'b', 'viewer');
const BEN = keyHolder('ben', 'b', 'user');
const BOSS = keyHolder('boss', 'a', 'admin');
const OPS = keyHolder('ops', 'ops', 'operator');
const CALL = { calls: [{ name: 'calculator', arguments: { expression: '1+1' } }], usage: [100, 10] } as const;

const TODAY = new Date().toISOString().slice(0, 10);
let llm: FakeLlm;
let jackdaw: Jackdaw;

/** Three chats of two tenants, four calls, on a server with these variables too. */
function afterSomeChats(more: Record<string, string>): void {
  beforeAll(async () => {
    llm = await FakeLlm.start();
    const env = {
      API_KEYS: [ANN, EVE, BEN, BOSS, OPS].map(({ entry }) => entry).join(','),
      LLM_MODEL: 'gpt-4o',
      LLM_PRICES: '{"gpt-4o": {"input": 10, "output": 20}}',
      AGENT_MEMORY_ENABLED: 'false',
      ...more,
    };
    jackdaw = await startJackdaw({ llm, env });
    llm.reply(CALL, { text: 'two', usage: [200, 5] }, { text: 'fine', usage: [50, 5] });
    await jackdaw.chat({ query: 'what is 1+1?', sessionId: 'first' }, ANN.headers);
    await jackdaw.chat({ query: 'thanks', sessionId: 'second' }, ANN.headers);
    llm.reply({ text: 'fine', usage: [7, 0] });
    await jackdaw.chat({ query: 'hi', sessionId: 'first' }, BEN.headers);
  });
  beforeEach(() => llm.reset());
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });
}

describe('the usage of models', () => {
  afterSomeChats({});
  const usage = async (query: string, who = ANN) => (await jackdaw.get(`/api/usage${query}`, who.headers)).body;
  const sum = (calls: number, prompt: number, completion: number, cost: number) => ({
    calls,
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion, cost },
  });

  it('is shown to its own tenant, by session, day and model', async () => {
    const total = sum(3, 350, 20, 0.0039);
    expect(await usage('?by=session')).toEqual({
      total,
      entries: [
        { key: 'first', ...sum(2, 300, 15, 0.0033) },
        { key: 'second', ...sum(1, 50, 5, 0.0006) },
      ],
      next: null,
    });
    expect(await usage('')).toEqual({ total, entries: [{ key: TODAY, ...total }], next: null });
    expect(await usage('?by=model')).toMatchObject({ total, entries: [{ key: 'gpt-4o' }] });
    expect(await usage('?sessionId=second')).toMatchObject({ total: { calls: 1 } });
    expect(await usage('?to=2020-01-01')).toMatchObject({ total: { calls: 0 }, entries: [] });
    expect(await usage('', EVE)).toMatchObject({ total: sum(1, 7, 0, 0.00007) });
  });

  it('is listed page by page', async () => {
    const first = await usage('?by=session&limit=1');
    expect(first).toMatchObject({ total: { calls: 3 }, entries: [{ key: 'first' }], next: expect.any(String) });
    expect(await usage(`?by=session&limit=1&cursor=${String(first['next'])}`)).toMatchObject({
      entries: [{ key: 'second' }],
      next: null,
    });
  });

  it.each(['?by=tenant', '?from=yesterday', '?to=2027-13-01', '?limit=0', '?tenant=b'])('refuses %s', async (query) => {
    const { status, body } = await jackdaw.get(`/api/usage${query}`, ANN.headers);
    expect([status, body['code']]).toEqual([400, 'VALIDATION_FAILED']);
  });

  it('is shown for all tenants to operators only, who see nothing else', async () => {
    const { body } = await jackdaw.get('/api/usage/tenants', OPS.headers);
    expect(body).toMatchObject({
      total: { calls: 4 },
      entries: [
        { key: 'a', calls: 3 },
        { key: 'b', calls: 1 },
      ],
    });
    expect((await jackdaw.get('/api/usage/tenants', BOSS.headers)).status).toBe(403);
    for (const path of ['/api/runs', '/api/sessions/first', '/api/keys'])
      expect((await jackdaw.get(path, OPS.headers)).status).toBe(403);
  });

  it('is rebuilt into no budget if none is configured', async () => {
    const { status, body } = await jackdaw.post('/api/usage/rebuild', undefined, OPS.headers);
    expect([status, body['code']]).toEqual([400, 'REQUEST_REFUSED']);
  });

  it('includes only the own calls of a fork', async () => {
    const { body } = await jackdaw.get('/api/runs?sessionId=first', ANN.headers);
    const [run] = body['runs'] as unknown as { run_id: string }[];
    llm.reply({ text: 'two again', usage: [1000, 0] });
    const fork = await jackdaw.post(`/api/runs/${run!.run_id}/fork`, { fromStep: 'model:2' }, ANN.headers);
    const stream = await jackdaw.follow(String(fork.body['run_id']), undefined, ANN.headers);
    await stream.waitFor('run.completed');
    expect(await usage('?by=session')).toMatchObject({ total: { usage: { prompt_tokens: 1350 } } });
  });
});

describe('budgets', () => {
  afterSomeChats({ BUDGET_SESSION: 'tokens=100000', BUDGET_DAY: 'tokens=100000' });
  const rebuild = (who = OPS) => jackdaw.post('/api/usage/rebuild', undefined, who.headers);
  const totals = () => jackdaw.app.get(Database).query('SELECT scope, tokens, cost FROM budget_total ORDER BY scope');

  it('are rebuilt from recorded usage', async () => {
    expect((await rebuild(BOSS)).status).toBe(403);
    const { status, body } = await rebuild();
    const counted = await totals();
    expect([status, body]).toEqual([200, { sums: 4 }]);
    expect(counted).toMatchObject([
      { scope: `day:${TODAY}`, tokens: 377 },
      { scope: 'session:a:first', tokens: 315 },
      { scope: 'session:a:second', tokens: 55 },
      { scope: 'session:b:first', tokens: 7 },
    ]);
    await jackdaw.app.get(Database).commit([{ sql: 'UPDATE budget_total SET tokens = 1, cost = 1', params: [] }]);
    expect((await rebuild()).status).toBe(200);
    expect(await totals()).toEqual(counted);
  });

  it('are not rebuilt while a model call is in progress', async () => {
    const before = await totals();
    llm.reply({ hang: true });
    const stream = await jackdaw.stream({ query: 'wait', sessionId: 'third' }, ANN.headers);
    await llm.waitForRequest();
    const { status, body } = await rebuild();
    expect([status, body['code']]).toEqual([409, 'BUDGET_IN_USE']);
    await jackdaw.post(`/api/runs/${stream.runId}/cancel`, undefined, ANN.headers);
    await stream.all();
    expect((await rebuild()).status).toBe(200);
    expect(await totals()).toEqual(before);
  });
});
