import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

let llm: FakeLlm;
let jackdaw: Jackdaw;
beforeAll(async () => void (llm = await FakeLlm.start()));
afterEach(async () => {
  await jackdaw.stop();
  llm.reset();
});
afterAll(() => llm.close());

async function serve(env: Record<string, string>): Promise<void> {
  llm.always({ text: 'fine' });
  jackdaw = await startJackdaw({ llm, env: { LLM_MODEL: 'gpt-4o', ...env } });
}
/** The status of a request for the model, after checking the number of model calls. */
async function ask(model: string): Promise<[status: number, code: unknown]> {
  const before = llm.requests.length;
  const { status, body } = await jackdaw.chat({ query: 'hi', model });
  expect(llm.requests.length - before).toBe(status === 200 ? 1 : 0);
  return [status, body['code']];
}
const FINE = [200, undefined];
const REFUSED = [403, 'MODEL_NOT_ALLOWED'];

describe('the model of a request', () => {
  it('may be any model by default', async () => {
    await serve({});
    expect(await ask('gpt-whatever')).toEqual(FINE);
  });

  it('may match the patterns of the list, or be the agent’s own', async () => {
    await serve({ LLM_REQUEST_MODELS: 'openai:gpt-4o-*, openai:o3' });
    expect(await ask('gpt-4o-mini')).toEqual(FINE);
    expect(await ask('openai:o3')).toEqual(FINE);
    expect(await ask('gpt-4o')).toEqual(FINE);
    expect(await ask('o3-pro')).toEqual(REFUSED);
    expect(await ask('xgpt-4o-mini')).toEqual(REFUSED);
    const { body } = await jackdaw.chat({ query: 'hi', model: 'o3-pro' });
    expect(body).toMatchObject({ model: 'openai:o3-pro' });
    expect(String(body['detail'])).toMatch(/"openai:o3-pro".*LLM_REQUEST_MODELS/);
  });

  it('must be the agent’s own, if so configured', async () => {
    await serve({ LLM_REQUEST_MODELS: 'none' });
    expect(await ask('gpt-4o')).toEqual(FINE);
    expect(await ask('gpt-4o-mini')).toEqual(REFUSED);
  });

  it('must have a price if a budget limits the cost, even if a list allows it', async () => {
    const env = {
      BUDGET_RUN: 'cost=1',
      LLM_PRICES: '{"gpt-4o": {"input": 1, "output": 1}, "gpt-4o-mini": {"input": 1, "output": 1}}',
    };
    await serve(env);
    expect(await ask('gpt-4o-mini')).toEqual(FINE);
    expect(await ask('gpt-4o')).toEqual(FINE);
    expect(await ask('gpt-free')).toEqual(REFUSED);
    const { body } = await jackdaw.chat({ query: 'hi', model: 'gpt-free' });
    expect(String(body['detail'])).toContain('LLM_PRICES');
    await jackdaw.stop();
    await serve({ ...env, LLM_REQUEST_MODELS: '*' });
    expect(await ask('gpt-free')).toEqual(REFUSED);
    expect(await ask('gpt-4o-mini')).toEqual(FINE);
  });

  it('is checked again in a fork', async () => {
    await serve({ LLM_REQUEST_MODELS: 'openai:gpt-4o-mini' });
    const { body } = await jackdaw.chat({ query: 'hi' });
    const fork = (model: object) =>
      jackdaw.post(`/api/runs/${String(body['run_id'])}/fork`, { fromStep: 'model:1', edit: { model } });
    expect((await fork({ name: 'o3-pro' })).body['code']).toBe('MODEL_NOT_ALLOWED');
    expect((await fork({ name: 'gpt-4o-mini' })).status).toBeLessThan(300);
    expect((await fork({ name: 'gpt-4o' })).status).toBeLessThan(300);
    expect((await fork({ parameters: { temperature: 1 } })).status).toBeLessThan(300);
  });
});
