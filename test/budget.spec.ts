import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ModelBudget } from '../src/llm/budget/index.js';
import { Database } from '../src/persistence/index.js';
import { RunUsageStore } from '../src/run/usage/run-usage.store.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { BY_PRINCIPAL } from './support/run-parts.js';

const ANN = keyHolder('ann', 'a', 'admin');
const EVE = keyHolder('eve', 'b', 'admin');
const CALL = { calls: [{ name: 'calculator', arguments: { expression: '1+1' } }], usage: [50, 10] } as const;

describe('hard budgets', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    const env = {
      API_KEYS: `${ANN.entry},${EVE.entry}`,
      LLM_MODEL: 'gpt-4o',
      LLM_MAX_TOKENS: '10',
      LLM_FALLBACK: 'openai:gpt-4o-mini',
      LLM_PRICES: '{"gpt-4o": {"input": 1000, "output": 10000}, "gpt-4o-mini": {"input": 1, "output": 1}}',
      AGENT_MEMORY_ENABLED: 'false',
      BUDGET_RUN: 'tokens=5000',
      BUDGET_SESSION: 'tokens=8000,cost=100',
      BUDGET_TENANT_DAY: 'cost=100',
    };
    jackdaw = await startJackdaw({ llm, env });
  });
  beforeEach(() => llm.reset());
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });
  const total = async (name: string) =>
    (
      await jackdaw.app
        .get(Database)
        .query<{ tokens: number; cost: number }>(
          `SELECT tokens, cost FROM budget_total WHERE scope LIKE ? ORDER BY tokens DESC`,
          [`${name}:%`],
        )
    )[0];

  it('count the actual usage of runs and refuse calls beyond the limit', async () => {
    llm.reply(CALL).reply({ text: 'two', usage: [4800, 10] });
    const first = await jackdaw.chat({ query: 'what is 1+1?', sessionId: 'talk' }, ANN.headers);
    expect(first.body).toMatchObject({ usage: { total_tokens: 4870, cost: 5.05 } });
    // The run is finished, so its total was deleted.
    expect([await total('run'), await total('session')]).toEqual([undefined, { tokens: 4870, cost: 5_050_000_000 }]);
    llm.reply({ ...CALL, usage: [4990, 10] });
    const over = await jackdaw.chat({ query: 'and 2+2?', sessionId: 'other' }, ANN.headers);
    expect(over.status).toBe(429);
    expect(over.body).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      budget: 'run',
      unit: 'tokens',
      spent: 5000,
      limit: 5000,
      resets_at: null,
    });
    // Neither a retry nor the fallback model is called.
    expect(llm.requests).toHaveLength(3);
  });

  it('read no totals of a new run or session from the database', async () => {
    llm.always({ text: 'fine', usage: [10, 1] });
    await jackdaw.chat({ query: 'hi' }, ANN.headers);
    const query = vi.spyOn(jackdaw.app.get(Database), 'query');
    const asked = () => query.mock.calls.filter(([sql]) => sql.includes('budget_total')).map(([, params]) => params);
    expect((await jackdaw.chat({ query: 'hi' }, ANN.headers)).status).toBe(200);
    expect(asked()).toEqual([]);
    await jackdaw.chat({ query: 'hi', sessionId: 'named' }, ANN.headers);
    expect(asked()).toEqual([[expect.stringMatching(/^run:/), 'session:a:named']]);
    query.mockRestore();
  });

  it('are separate for each tenant', async () => {
    llm.reply({ text: 'dear', usage: [3980, 10] }).always({ text: 'fine' });
    expect((await jackdaw.chat({ query: 'hi', sessionId: 'dear' }, EVE.headers)).status).toBe(200);
    for (let chat = 0; chat < 24; chat++) {
      llm.reply({ text: 'dear', usage: [3980, 10] });
      expect((await jackdaw.chat({ query: 'hi' }, EVE.headers)).body).toMatchObject({ result: 'dear' });
    }
    const over = await jackdaw.chat({ query: 'hi' }, EVE.headers);
    expect(over.body).toMatchObject({ code: 'BUDGET_EXCEEDED', budget: 'tenant_day', unit: 'cost', limit: 100 });
    expect(over.body['resets_at']).toMatch(/T00:00:00.000Z$/);
    expect((await jackdaw.chat({ query: 'hi' }, ANN.headers)).status).toBe(200);
  });

  it('can be rebuilt from the journal', async () => {
    const database = jackdaw.app.get(Database);
    const read = () => database.query('SELECT scope, tokens, cost FROM budget_total WHERE tokens > 0 ORDER BY scope');
    const counted = await read();
    await database.commit([{ sql: 'UPDATE budget_total SET tokens = 1, cost = 1', params: [] }]);
    await jackdaw.app.get(ModelBudget).rebuild(new RunUsageStore(database, BY_PRINCIPAL).usages());
    expect(await read()).toEqual(counted);
  });

  it('count the prompt and the text of an interrupted call, which the journal does not', async () => {
    llm.reply({ text: 'one two three four five six', stallAfter: 3 });
    const stream = await jackdaw.stream({ query: 'count', sessionId: 'cut' }, ANN.headers);
    await stream.waitFor('message.delta');
    await jackdaw.post(`/api/runs/${stream.runId}/cancel`, undefined, ANN.headers);
    const events = await stream.all();
    expect(events.at(-1)!.data).toMatchObject({ type: 'run.cancelled', usage: { total_tokens: 0 } });
    const database = jackdaw.app.get(Database);
    const [cut] = await database.query<{ tokens: number; cost: number }>(
      "SELECT tokens, cost FROM budget_total WHERE scope = 'session:a:cut'",
    );
    // The total no longer includes the reservation of the longest reply, 10 tokens.
    expect(cut!.tokens).toBeGreaterThan(10);
    expect(cut!.cost).toBeGreaterThan(cut!.tokens * 1_000_000);
    await jackdaw.app.get(ModelBudget).rebuild(new RunUsageStore(database, BY_PRINCIPAL).usages());
    expect(await database.query("SELECT scope FROM budget_total WHERE scope = 'session:a:cut'")).toEqual([]);
  });
});
