import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

const ANSWER = 'word '.repeat(400);

/** A reply with usage exactly as given, in the form that was requested. */
function counted(usage: unknown) {
  return ({ stream, model }: FakeRequest): FakeReply => {
    if (!stream) {
      const choices = [{ index: 0, message: { role: 'assistant', content: ANSWER }, finish_reason: 'stop' }];
      return { status: 200, body: { model, choices, usage } };
    }
    const delta = { choices: [{ index: 0, delta: { content: ANSWER } }] };
    const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage };
    return { events: [delta, end, '[DONE]'] };
  };
}

describe('a budget of 5,000 tokens', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => void (llm = await FakeLlm.start()));
  afterEach(async () => {
    await jackdaw.stop();
    llm.reset();
  });
  afterAll(() => llm.close());

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['zeros', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
    ['a total of 0 beside its parts', { prompt_tokens: 50, completion_tokens: 400, total_tokens: 0 }],
    ['a completion of 0 beside a text', { prompt_tokens: 50, completion_tokens: 0, total_tokens: 50 }],
    ['the prompt alone', { prompt_tokens: 50 }],
    ['negative counts', { prompt_tokens: -1, completion_tokens: -1, total_tokens: -1 }],
    ['texts instead of numbers', { prompt_tokens: '50', completion_tokens: '400', total_tokens: '450' }],
    ['absurd counts', { prompt_tokens: 1e18, completion_tokens: 1e18, total_tokens: 2e18 }],
  ])('is used up after a dozen answers of 400 words if the provider reports %s', async (_what, usage) => {
    const env = { BUDGET_TENANT_DAY: 'tokens=5000', BUDGET_REPLY_TOKENS: '500', AGENT_MEMORY_ENABLED: 'false' };
    jackdaw = await startJackdaw({ llm, env });
    llm.always(counted(usage));
    let answers = 0;
    for (; answers < 30; answers++) {
      if (answers % 2 === 0) {
        const { body } = await jackdaw.chat({ query: 'hello' });
        if (body['code'] === 'BUDGET_EXCEEDED') break;
      } else {
        const events = await (await jackdaw.stream({ query: 'hello' })).all();
        if (events.at(-1)!.data['code'] === 'BUDGET_EXCEEDED') break;
      }
    }
    expect(answers).toBeGreaterThan(0);
    expect(answers).toBeLessThan(13);
  });

  it.each<[string, readonly unknown[]]>([
    ['is interrupted', []],
    ['ends in an error', [{ error: { message: 'overloaded', type: 'server_error' } }]],
  ])('counts the usage that the provider reported before a stream %s', async (_what, end) => {
    jackdaw = await startJackdaw({ llm, env: { BUDGET_SESSION: 'tokens=5000', LLM_MAX_ATTEMPTS: '1' } });
    const delta = { choices: [{ index: 0, delta: { content: 'a' } }] };
    const usage = { prompt_tokens: 50, completion_tokens: 4940, total_tokens: 4990 };
    llm.always({ events: [delta, { choices: [], usage }, ...end] });
    await (await jackdaw.stream({ query: 'hello', sessionId: 'talk' })).all();
    const { body } = await jackdaw.chat({ query: 'hello', sessionId: 'talk' });
    expect(body).toMatchObject({ code: 'BUDGET_EXCEEDED', spent: 4990 });
  });
});
