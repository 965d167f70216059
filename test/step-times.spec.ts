import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

interface Step {
  readonly name: string;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly first_token_ms: number | null;
  readonly attempts: number | null;
}

describe('the times of steps and calls', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({
      llm,
      env: { LLM_MAX_ATTEMPTS: '3', LLM_RETRY_DELAY_MS: '1', BUDGET_TENANT_DAY: 'tokens=100000' },
      options: { agents: [{ name: 'dated', model: { provider: 'openai' }, budgets: { tenantDay: { tokens: 5000 } } }] },
    });
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });
  const steps = async (runId: string) =>
    (await jackdaw.get(`/api/runs/${runId}/journal`)).body['steps'] as unknown as Step[];

  it('are in the journal: start, first token and requests to the provider', async () => {
    const from = Date.now();
    const call = { calls: [{ name: 'calculator', arguments: { expression: '1+1' } }] };
    llm.reply({ status: 503 }, { ...call }, { text: 'two words of an answer' });
    const stream = await jackdaw.stream({ query: '1+1?' });
    await stream.waitFor('run.completed');
    const [first, tool, last] = await steps(stream.runId);
    expect([first?.name, tool?.name, last?.name]).toEqual(['model:1', 'tool:1:1', 'model:2']);
    expect(first).toMatchObject({ attempts: 2, first_token_ms: null });
    expect(tool).toMatchObject({ attempts: null, first_token_ms: null });
    expect(last).toMatchObject({ attempts: 1, first_token_ms: expect.any(Number) });
    let previous = from;
    for (const { started_at, created_at } of [first!, tool!, last!]) {
      expect(started_at).toBeGreaterThanOrEqual(previous);
      expect(created_at).toBeGreaterThanOrEqual(started_at!);
      previous = started_at!;
    }
    expect(last!.first_token_ms).toBeLessThanOrEqual(last!.created_at - last!.started_at! + 1);
  });

  it('count a fallback to another model as a request', async () => {
    const fallback = await startJackdaw({
      llm,
      env: { LLM_MAX_ATTEMPTS: '1', LLM_FALLBACK: 'openai:other' },
    });
    llm.reply({ status: 503 }, { text: 'done' });
    const { body } = await fallback.chat({ query: 'x' });
    const { body: journal } = await fallback.get(`/api/runs/${String(body['run_id'])}/journal`);
    expect((journal['steps'] as unknown as Step[])[0]).toMatchObject({ attempts: 2 });
    await fallback.stop();
  });

  it('are summed as latency by agent', async () => {
    const { status, body } = await jackdaw.get('/api/usage/latency?by=agent');
    expect(status).toBe(200);
    const latency = body as unknown as { bounds_ms: number[]; entries: { key: string; duration: object }[] };
    expect(latency.bounds_ms).toHaveLength(11);
    expect(latency.entries).toMatchObject([{ key: 'dated', duration: { calls: 2 }, first_token: { calls: 1 } }]);
    expect((await jackdaw.get('/api/usage?by=agent&agent=dated')).body).toMatchObject({
      entries: [{ key: 'dated', calls: 2 }],
    });
  });

  it('are followed by the budgets of the day, with the remaining amounts', async () => {
    const before = (await jackdaw.get('/api/usage')).body as unknown as { total: { usage: { total_tokens: number } } };
    const used = before.total.usage.total_tokens;
    const { body } = await jackdaw.get('/api/usage/budgets');
    const resets_at = expect.any(Number) as number;
    expect(body['budgets']).toEqual([
      {
        name: 'tenant_day',
        agent: 'dated',
        limit: { tokens: 5000 },
        used: { tokens: used, cost: 0 },
        remaining: { tokens: 5000 - used },
        resets_at,
      },
      {
        name: 'tenant_day',
        agent: null,
        limit: { tokens: 100_000 },
        used: { tokens: used, cost: 0 },
        remaining: { tokens: 100_000 - used },
        resets_at,
      },
    ]);
  });
});
