import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../src/persistence/index.js';
import type { EnvRecord } from '../src/config/index.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

const LIMIT = 30_000;
/** The answer in words; a word is one token. */
const WORDS = 4000;
const ANSWER = 'word '.repeat(WORDS);
const AT_ONCE = 20;

/** A provider that respects `max_tokens` and reports no usage, as some providers do for streams. */
function answer({ max_completion_tokens: limit, max_tokens = limit }: FakeRequest): FakeReply {
  if (typeof max_tokens !== 'number' || max_tokens >= WORDS) return { text: ANSWER, usage: null };
  return { text: 'word '.repeat(max_tokens), finishReason: 'length', usage: null };
}

describe('concurrent replies without a length limit', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => void (llm = await FakeLlm.start()));
  afterEach(async () => {
    await jackdaw.stop();
    llm.reset();
  });
  afterAll(() => llm.close());

  const start = async (env: EnvRecord) => {
    jackdaw = await startJackdaw({ llm, env: { LLM_MODEL: 'gpt-4o', TOKEN_COUNTING: 'estimate', ...env } });
    llm.always(answer);
  };
  const spent = async () => {
    const sql = "SELECT tokens FROM budget_total WHERE scope LIKE 'tenant_day:%'";
    const [row] = await jackdaw.app.get(Database).query<{ tokens: number }>(sql, []);
    return row!.tokens;
  };

  it('stop during their stream when the budget is used up, each with a documented outcome', async () => {
    await start({ BUDGET_TENANT_DAY: `tokens=${LIMIT}` });
    const streams = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) => jackdaw.stream({ query: 'hello', sessionId: `s${n}` })),
    );
    const ends = await Promise.all(streams.map(async (stream) => (await stream.all()).at(-1)!.data));
    const stopped = ends.filter(({ type }) => type === 'run.failed');
    expect(stopped.length).toBeGreaterThan(AT_ONCE / 2);
    for (const end of stopped) expect(end['error']).toMatchObject({ code: 'BUDGET_EXCEEDED' });
    for (const { type } of ends) expect(['run.completed', 'run.failed']).toContain(type);
    // A running reply is counted by its pieces, a settled one as a whole: the counts may differ by a token.
    expect(await spent()).toBeLessThanOrEqual(LIMIT + AT_ONCE);
    expect(await spent()).toBeGreaterThan(LIMIT * 0.8);
  });

  it('are limited by max_tokens without a stream', async () => {
    await start({ BUDGET_TENANT_DAY: `tokens=${LIMIT}` });
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => jackdaw.chat({ query: 'hello' })));
    for (const { status, body } of answers) {
      expect(['200 stop', '200 length', '429 error BUDGET_EXCEEDED']).toContain(
        [status, body['finish_reason'], body['code']].filter((part) => part !== undefined).join(' '),
      );
    }
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(3);
    expect(await spent()).toBeLessThanOrEqual(LIMIT);
  });

  it('are not limited while the budget suffices', async () => {
    await start({ BUDGET_TENANT_DAY: 'tokens=1000000', BUDGET_REPLY_TOKENS: '100' });
    const { body } = await jackdaw.chat({ query: 'hello' });
    expect(body).toMatchObject({ finish_reason: 'stop', result: ANSWER });
    expect(llm.lastRequest).not.toHaveProperty('max_completion_tokens');
    const events = await (await jackdaw.stream({ query: 'hello' })).all();
    expect(events.at(-1)!.data['type']).toBe('run.completed');
  });

  it('leave a consistent session', async () => {
    await start({ BUDGET_RUN: 'cost=1500', LLM_PRICES: '{"gpt-4o": {"input": 0, "output": 1000000}}' });
    const stream = await jackdaw.stream({ query: 'hello', sessionId: 'talk' });
    const events = await stream.all();
    expect(events.at(-1)!.data).toMatchObject({ type: 'run.failed', error: { code: 'BUDGET_EXCEEDED' } });
    llm.always({ text: 'fine' });
    const { status, body } = await jackdaw.chat({ query: 'again', sessionId: 'talk' });
    expect([status, body]).toMatchObject([200, { result: 'fine' }]);
    const { messages } = llm.lastRequest;
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'user']);
  });

  it('are also stopped by a cost budget, even in the arguments of a call', async () => {
    const prices = '{"gpt-4o": {"input": 0, "output": 1000000}}';
    await start({ BUDGET_RUN: 'cost=1500', LLM_PRICES: prices });
    const args = JSON.stringify({ expression: '1+'.repeat(20_000) });
    llm.always(() => ({ calls: [{ name: 'calculator', arguments: args }], usage: null }));
    const events = await (await jackdaw.stream({ query: 'hello' })).all();
    expect(events.at(-1)!.data).toMatchObject({ type: 'run.failed', error: { code: 'BUDGET_EXCEEDED' } });
    expect(events.filter(({ data }) => data['type'] === 'tool.started')).toEqual([]);
    expect(llm.requests).toHaveLength(1);
  });

  it('are requested without a limit if the model does not accept it', async () => {
    await start({ BUDGET_TENANT_DAY: `tokens=${LIMIT}` });
    llm.always(({ max_completion_tokens: limit }) =>
      limit === undefined
        ? { text: 'fine' }
        : { status: 400, body: { error: { message: 'max_tokens is too large: the model supports at most 4' } } },
    );
    expect((await jackdaw.chat({ query: 'hello' })).body['result']).toBe('fine');
    expect(llm.requests).toHaveLength(2);
  });
});
