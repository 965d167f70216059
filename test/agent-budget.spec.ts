import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { BudgetService } from '../src/agent/index.js';
import { Database } from '../src/persistence/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

const MODEL = { provider: 'openai', name: 'gpt-4o', parameters: { maxTokens: 10 } };
const PRICES = '{"gpt-4o": {"input": 1000, "output": 10000}}';
const CALL = { calls: [{ name: 'calculator', arguments: { expression: '1+1' } }], usage: [4490, 10] } as const;
const ASK = { calls: [{ name: 'ask_free', arguments: { query: 'what is it?' } }], usage: [90, 10] } as const;

describe('budgets of an agent', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({
      llm,
      env: { LLM_PRICES: PRICES, LLM_MODEL: 'gpt-4o', AGENT_MEMORY_ENABLED: 'false' },
      options: {
        agents: [
          { name: 'free', model: MODEL },
          { name: 'thrifty', model: MODEL, subAgents: ['free'], budgets: { run: { tokens: 5000 } } },
          { name: 'seated', model: MODEL, budgets: { session: { tokens: 5000 } } },
          { name: 'dated', model: MODEL, budgets: { tenantDay: { tokens: 5000 }, day: { cost: 100 } } },
        ],
      },
    });
  });
  afterEach(() => llm.reset());
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });
  const chat = (agent: string, more = {}) => jackdaw.chat({ query: 'hi', agent, ...more });
  const sums = () =>
    jackdaw.app
      .get(Database)
      .query<{ scope: string; tokens: number }>('SELECT scope, tokens FROM budget_total ORDER BY scope');

  it('fail a run over the limit, but no run of another agent', async () => {
    llm.reply(CALL);
    const { status, body } = await chat('thrifty');
    expect([status, body]).toMatchObject([
      429,
      { code: 'BUDGET_EXCEEDED', budget: 'run', agent: 'thrifty', unit: 'tokens', spent: 4500, limit: 5000 },
    ]);
    expect(body['detail']).toContain('(budgets.run of the agent "thrifty")');
    expect(llm.requests).toHaveLength(1);
    llm.reset();
    llm
      .reply(CALL)
      .reply(CALL)
      .reply({ text: 'two', usage: [4490, 10] });
    expect((await chat('free')).body).toMatchObject({ usage: { total_tokens: 13_500 } });
    llm.reply({ text: 'fine', usage: [90, 10] });
    expect((await chat('thrifty')).status).toBe(200);
  });

  it('count the usage of sub-agent runs', async () => {
    llm.reply(ASK).reply({ text: 'it is so', usage: [4890, 10] });
    const { status, body } = await chat('thrifty');
    expect([status, body]).toMatchObject([429, { code: 'BUDGET_EXCEEDED', agent: 'thrifty', spent: 5000 }]);
    expect(llm.requests).toHaveLength(2);
  });

  it('limit a session', async () => {
    llm.always({ text: 'fine', usage: [4990, 10] });
    expect((await chat('seated', { sessionId: 'one' })).status).toBe(200);
    const over = await chat('seated', { sessionId: 'one' });
    expect([over.status, over.body]).toMatchObject([429, { budget: 'session', agent: 'seated' }]);
    expect((await chat('free', { sessionId: 'one' })).status).toBe(200);
    expect((await chat('seated', { sessionId: 'two' })).status).toBe(200);
  });

  it('limit a day and are rebuilt from the journal with all other budgets', async () => {
    llm.reply({ text: 'fine', usage: [4990, 10] });
    expect((await chat('dated')).status).toBe(200);
    expect((await chat('dated')).body).toMatchObject({ code: 'BUDGET_EXCEEDED', budget: 'tenant_day', agent: 'dated' });
    const counted = (await sums()).filter(({ tokens }) => tokens > 0);
    await jackdaw.app
      .get(Database)
      .commit([{ sql: 'UPDATE budget_total SET tokens = 1 WHERE scope NOT LIKE ?', params: ['agent_run:%'] }]);
    await jackdaw.app.get(BudgetService).rebuild();
    expect((await sums()).filter(({ tokens }) => tokens > 0)).toEqual(counted);
  });

  it('are listed by the API', async () => {
    expect((await jackdaw.get('/api/agents/dated')).body['budgets']).toEqual({
      tenant_day: { tokens: 5000 },
      day: { cost: 100 },
    });
    expect((await jackdaw.get('/api/agents/free')).body).not.toHaveProperty('budgets');
  });

  it('refuse a model without a price in a request if they limit the cost', async () => {
    const { status, body } = await chat('dated', { model: 'gpt-4o-mini' });
    expect([status, body['code']]).toEqual([403, 'MODEL_NOT_ALLOWED']);
  });
});

it('a budget of cost stops the start of an agent whose model has no price', async () => {
  const agents = [{ name: 'dear', model: MODEL, budgets: { run: { cost: 1 } } }];
  await expect(startJackdaw({ env: { OPENAI_API_KEY: 'k' }, options: { agents } })).rejects.toThrow(
    'Agent "dear": there is a budget of cost, and the model gpt-4o of openai has no price',
  );
});
