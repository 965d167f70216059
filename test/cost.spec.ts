import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

describe('the cost of a run', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    const env = {
      LLM_MODEL: 'gpt-4o',
      LLM_PRICES: '{"openai:gpt-4o": {"input": 2, "output": 10}, "gpt-4o": {"input": 9, "output": 9}}',
      LLM_CACHE: 'memory',
      LLM_OPENAI_API: 'chat',
    };
    jackdaw = await startJackdaw({ llm, env });
  });
  beforeEach(() => llm.reset());
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  it('is published for each call and for the run, and stored with the run', async () => {
    llm.reply({ calls: [{ name: 'calculator', arguments: { expression: '1+1' } }], usage: [1000, 100] });
    llm.reply({ text: 'two', usage: [2000, 50] });
    const stream = await jackdaw.stream({ query: 'what is 1+1?' });
    await stream.waitFor('run.completed');
    const published = (type: string) => stream.events.map(({ data }) => data).filter((data) => data['type'] === type);
    expect(published('usage')).toMatchObject([{ cost: 0.003 }, { cost: 0.0045 }]);
    const [end] = published('run.completed');
    const usage = end!['usage'];
    expect(usage).toEqual({ prompt_tokens: 3000, completion_tokens: 150, total_tokens: 3150, cost: 0.0075 });
    expect((await jackdaw.get(`/api/runs/${String(end!['run_id'])}`)).body['usage']).toEqual(usage);
    expect((await jackdaw.get('/api/runs?limit=1')).body).toMatchObject({ runs: [{ usage }] });
  });

  it('includes the output price of reasoning tokens that the completion count omits', async () => {
    const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1600 };
    const choices = [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }];
    llm.reply({ status: 200, body: { choices, usage } });
    llm.reply({ events: [{ choices: [{ delta: { content: 'a' }, finish_reason: 'stop' }], usage }, '[DONE]'] });
    const expected = { prompt_tokens: 1000, completion_tokens: 600, total_tokens: 1600, cost: 0.008 };
    expect((await jackdaw.chat({ query: 'hi' })).body['usage']).toEqual(expected);
    const end = (await (await jackdaw.stream({ query: 'hi' })).all()).at(-1)!;
    expect(end.data['usage']).toEqual(expected);
  });

  it('is absent for a cached reply and for a model without a price', async () => {
    llm.always({ text: 'fine' });
    const ask = { query: 'hi', parameters: { temperature: 0 } };
    expect((await jackdaw.chat(ask)).body).toMatchObject({ usage: { cost: 0.00007 } });
    expect((await jackdaw.chat(ask)).body['usage']).toEqual({
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
    });
    expect((await jackdaw.chat({ ...ask, model: 'gpt-4o-mini' })).body['usage']).not.toHaveProperty('cost');
  });
});
