import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../src/persistence/index.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { WaitingTools } from './support/waiting.tool.js';

const ANN = keyHolder('ann', 'a', 'admin');
/** Tokens that the fake server reports for a call of its embedding model. */
const EMBEDDED = 7;

const remember = (text: string) => ({ name: 'remember', arguments: { text } });
const recall = (query: string) => ({ name: 'recall', arguments: { query } });

describe('the usage of embeddings', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({
      llm,
      tools: [new WaitingTools()],
      options: {
        workflows: [
          { name: 'look', nodes: [{ id: 'tea', type: 'tool', tool: 'recall', arguments: { query: 'tea' } }] },
        ],
      },
      env: {
        API_KEYS: ANN.entry,
        LLM_MODEL: 'gpt-4o',
        LLM_MAX_TOKENS: '10',
        LLM_PRICES: '{"gpt-4o": {"input": 1000, "output": 1000}, "embed-1": {"input": 2000, "output": 0}}',
        LONG_TERM_MEMORY: 'on',
        EMBEDDING_MODEL: 'embed-1',
        AGENT_MEMORY_ENABLED: 'false',
        BUDGET_RUN: 'tokens=5000',
        BUDGET_TENANT_DAY: 'cost=1000',
      },
    });
  });
  afterEach(() => llm.reset());
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });
  const chat = (more = {}) => jackdaw.chat({ query: 'continue', includeDetails: true, ...more }, ANN.headers);
  const spentOn = async (scope: string) => {
    const rows = await jackdaw.app
      .get(Database)
      .query<{ tokens: number }>('SELECT tokens FROM budget_total WHERE scope LIKE ? ORDER BY tokens DESC', [scope]);
    return rows.map(({ tokens }) => tokens);
  };

  it("counts for the run, the journal, the tenant's usage and the budgets", async () => {
    llm.reply({ calls: [remember('Ann likes tea.')], usage: [100, 10] }, { text: 'fine', usage: [200, 10] });
    const { body } = await chat({ sessionId: 'talk' });
    const total = 320 + EMBEDDED;
    expect(body).toMatchObject({ model: 'gpt-4o', usage: { total_tokens: total, cost: 0.334 } });
    const { text } = await jackdaw.get(`/api/runs/${String(body['run_id'])}/events`, ANN.headers);
    expect(text).toContain(`"model":"embed-1","prompt_tokens":${EMBEDDED},"completion_tokens":0`);
    const used = await jackdaw.get('/api/usage?by=model', ANN.headers);
    expect(used.body['entries']).toMatchObject([
      { key: 'embed-1', calls: 1, usage: { total_tokens: EMBEDDED, cost: 0.014 } },
      { key: 'gpt-4o', calls: 2, usage: { total_tokens: 320 } },
    ]);
    const session = await jackdaw.get('/api/usage?sessionId=talk', ANN.headers);
    expect(session.body['total']).toMatchObject({ calls: 3, usage: { total_tokens: total } });
    expect(await spentOn('tenant_day:%')).toEqual([total]);
  });

  it('counts once if the run waits and resumes', async () => {
    const pay = { name: 'pay', arguments: { to: 'bob', amount: 5 } };
    llm.reply({ calls: [recall('tea'), pay], usage: [100, 10] }, { text: 'fine', usage: [200, 10] });
    const waiting = await chat();
    expect([waiting.status, waiting.body]).toMatchObject([202, { model: 'gpt-4o' }]);
    expect(await spentOn('run:%')).toEqual([110 + EMBEDDED]);
    const run = `/api/runs/${String(waiting.body['run_id'])}`;
    await jackdaw.post(`${run}/approve`, {}, ANN.headers);
    const stream = await jackdaw.follow(String(waiting.body['run_id']), 0, ANN.headers);
    const ended = (await stream.all()).at(-1)!.data;
    expect(ended).toMatchObject({ type: 'run.completed', usage: { total_tokens: 320 + EMBEDDED } });
    expect(llm.embeddings.requests).toHaveLength(1);
  });

  it('does not exceed a budget: recall falls back to words', async () => {
    llm.reply({ calls: [recall('tea')], usage: [4990, 10] });
    const { status, body } = await chat();
    expect([status, body['code']]).toEqual([429, 'BUDGET_EXCEEDED']);
    expect(llm.embeddings.requests).toEqual([]);
    const run = await jackdaw.get(`/api/runs/${String(body['run_id'])}`, ANN.headers);
    expect(JSON.stringify(run.body['tool_results'])).toContain('Ann likes tea.');
  });

  it.each([
    ['the embedding tokens of a direct tool call', '/api/tools/recall/call', { arguments: { query: 'tea' } }],
    ['the embedding tokens of a workflow', '/api/workflows/look/runs', { wait: true }],
  ])('counts %s', async (_where, path, wanted) => {
    const { body } = await jackdaw.post(path, wanted, ANN.headers);
    const run = await jackdaw.get(`/api/runs/${String(body['run_id'])}`, ANN.headers);
    expect(run.body).toMatchObject({ status: 'completed', usage: { total_tokens: EMBEDDED, cost: 0.014 } });
  });
});
