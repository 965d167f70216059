import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeCall, FakeRequest } from './support/fake-llm.types.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { openAiBody } from './support/providers/openai.js';
import { TestTools } from './support/test.tool.js';

let llm: FakeLlm;
let jackdaw: Jackdaw | undefined;
beforeAll(async () => {
  llm = await FakeLlm.start();
});
afterEach(async () => {
  await jackdaw?.stop();
  jackdaw = undefined;
  llm.reset();
});
afterAll(() => llm.close());

async function start(provider: string, model: string, env: Record<string, string> = {}): Promise<Jackdaw> {
  jackdaw = await startJackdaw({ env: { ...llm.envOf(provider), LLM_MODEL: model, ...env }, tools: [new TestTools()] });
  return jackdaw;
}

/** A request without the marks of a cache, which are not part of the cached text. */
function unmarked(request: FakeRequest): FakeRequest {
  return JSON.parse(
    JSON.stringify(request, (key, value: unknown) => (key === 'cache_control' ? undefined : value)),
  ) as FakeRequest;
}

/** The serialised request up to its last message, and all that follows the messages. */
function parts(request: FakeRequest): { readonly prefix: string; readonly rest: string } {
  const text = JSON.stringify(unmarked(request));
  const { messages } = unmarked(request);
  const list = JSON.stringify(messages).slice(0, -1);
  const at = text.indexOf(list) + list.length;
  return { prefix: text.slice(0, at), rest: text.slice(at) };
}

/** The longest common start of two texts. */
function common(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return a.slice(0, length);
}

const call = (n: number): FakeCall => ({ name: 'double', arguments: { n } });
const marks = (request: FakeRequest): number => JSON.stringify(request).split('"cache_control":').length - 1;

/** Two turns of a session: several calls at once, a call that fails, a call that does not exist. */
async function converse(app: Jackdaw): Promise<void> {
  llm.reply(
    { reasoning: 'Two at once.', calls: [call(1), call(2)] },
    { reasoning: 'One more.', text: 'One more.', calls: [call(3)] },
    { reasoning: 'A text.', calls: [{ name: 'double', arguments: '{"n":"x"}' }] },
    { reasoning: 'Another tool.', calls: [{ name: 'unknown', arguments: {} }] },
    { text: 'Done.', reasoning: 'All are there.' },
    { reasoning: 'Again.', calls: [call(4)] },
    { text: 'Again.' },
  );
  for (const query of ['first', 'second']) {
    expect((await app.chat({ query, sessionId: 's' })).status).toBe(200);
  }
  expect(llm.requests).toHaveLength(7);
}

describe.each([
  ['openai', 'gpt-5.6-luna'],
  ['azure', 'gpt-5.1'],
  ['anthropic', 'claude-haiku-5-5'],
  ['anthropic', 'claude-sonnet-4-5'],
  ['deepseek', 'deepseek-v4-flash'],
  ['glm', 'glm-4.7'],
  ['ollama', 'qwen3'],
  ['openai-compatible', 'house-model'],
  ['openai-compatible', 'kimi-k2.6'],
])('consecutive requests to %s, %s', (provider, model) => {
  it('are byte-identical up to the new turn, in a run and in the next one of the session', async () => {
    await converse(await start(provider, model, { LLM_EFFORT: 'high' }));
    for (const [at, request] of llm.requests.entries()) {
      const next = llm.requests[at + 1];
      if (!next) continue;
      const [before, after] = [parts(request), parts(next)];
      expect([at, common(before.prefix, after.prefix)]).toEqual([at, before.prefix]);
      expect([at, after.rest.slice(after.rest.indexOf(']'))]).toEqual([
        at,
        before.rest.slice(before.rest.indexOf(']')),
      ]);
    }
  });
});

describe('Claude’s requests', () => {
  it('have marks at the system text and at the ends of the last two turns', async () => {
    await converse(await start('anthropic', 'claude-haiku-5-5'));
    expect(llm.requests.map(marks)).toEqual([2, 3, 3, 3, 3, 3, 3]);
    const { system, messages } = llm.requests[2]!;
    expect(system).toEqual([
      { type: 'text', text: expect.any(String) as string, cache_control: { type: 'ephemeral' } },
    ]);
    const ends = messages.map(({ content }) => (content as { cache_control?: unknown }[]).at(-1)?.cache_control);
    expect(ends).toEqual([undefined, undefined, { type: 'ephemeral' }, undefined, { type: 'ephemeral' }]);
  });

  it('lose the marks if a proxy refuses them', async () => {
    const app = await start('anthropic', 'claude-haiku-5-5');
    llm.always((request) =>
      marks(request) > 0
        ? { status: 400, body: { error: { message: 'system.0.cache_control: Extra inputs are not permitted' } } }
        : { text: 'fine' },
    );
    expect((await app.chat({ query: 'x' })).body['result']).toBe('fine');
    expect((await app.chat({ query: 'x' })).body['result']).toBe('fine');
    expect(llm.requests.map(marks)).toEqual([2, 0, 0]);
  });

  it('report tokens that are read from the cache, written to it and used for thinking, at their prices', async () => {
    const prices = { 'claude-haiku-5-5': { input: 4, output: 10, cachedInput: 0.4 } };
    const app = await start('anthropic', 'claude-haiku-5-5', { LLM_PRICES: JSON.stringify(prices) });
    const usage = {
      input_tokens: 100_000,
      cache_read_input_tokens: 200_000,
      cache_creation_input_tokens: 300_000,
      output_tokens: 50_000,
      output_tokens_details: { thinking_tokens: 40_000 },
    };
    const body = {
      type: 'message',
      model: 'm',
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: 'fine' }],
      usage,
    };
    llm.reply({ status: 200, body });
    const { body: answer } = await app.chat({ query: 'x' });
    // 0.1 * 4 + 0.2 * 0.4 + 0.3 * 4 * 1.25 + 0.05 * 10
    expect(answer['usage']).toEqual({
      prompt_tokens: 600_000,
      completion_tokens: 50_000,
      total_tokens: 650_000,
      cached_tokens: 200_000,
      cache_write_tokens: 300_000,
      reasoning_tokens: 40_000,
      cost: 2.48,
    });
    const { body: sums } = await app.get('/api/usage');
    expect(sums['total']).toMatchObject({ usage: { cache_write_tokens: 300_000, cached_tokens: 200_000 } });
  });
});

describe('prompt_cache_key', () => {
  it('is the same for the runs of a session, another one for another session, and no name of either', async () => {
    llm.always({ text: 'fine' });
    const app = await start('azure', 'gpt-5.6-luna');
    for (const sessionId of ['one', 'one', 'two']) await app.chat({ query: 'x', sessionId });
    const [first, second, third] = llm.requests.map((request) => String(request['prompt_cache_key']));
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  it('is not sent to another address than OpenAI’s, nor to other providers', async () => {
    llm.always({ text: 'fine' });
    for (const [provider, model] of [
      ['openai', 'gpt-5.6-luna'],
      ['openai-compatible', 'm'],
      ['deepseek', 'deepseek-v4-flash'],
    ] as const) {
      const app = await start(provider, model);
      await app.chat({ query: 'x' });
      expect(llm.lastRequest).not.toHaveProperty('prompt_cache_key');
      await app.stop();
      jackdaw = undefined;
    }
  });

  it('is omitted after its refusal', async () => {
    const message = 'Unrecognized request argument supplied: prompt_cache_key';
    const app = await start('azure', 'gpt-4o');
    llm.always((request) =>
      request['prompt_cache_key'] === undefined ? { text: 'fine' } : { status: 400, body: openAiBody({ message }) },
    );
    for (let n = 0; n < 2; n++) expect((await app.chat({ query: 'x' })).body['result']).toBe('fine');
    expect(llm.requests).toHaveLength(3);
  });
});

it.each([
  [
    'chat',
    {
      choices: [{ message: { content: 'fine' }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 600_000,
        completion_tokens: 50_000,
        total_tokens: 650_000,
        prompt_tokens_details: { cached_tokens: 200_000, cache_write_tokens: 300_000 },
        completion_tokens_details: { reasoning_tokens: 40_000 },
      },
    },
  ],
  [
    'responses',
    {
      object: 'response',
      status: 'completed',
      output: [
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'fine', annotations: [] }],
        },
      ],
      usage: {
        input_tokens: 600_000,
        output_tokens: 50_000,
        total_tokens: 650_000,
        input_tokens_details: { cached_tokens: 200_000, cache_write_tokens: 300_000 },
        output_tokens_details: { reasoning_tokens: 40_000 },
      },
    },
  ],
])('OpenAI’s cache_write_tokens of the %s API are counted, and cost 1.25 times the input', async (api, reply) => {
  const app = await start('openai', 'gpt-5.6-luna', {
    LLM_OPENAI_API: api,
    LLM_PRICES: JSON.stringify({ 'gpt-5.6-luna': { input: 4, output: 10, cachedInput: 0.4 } }),
  });
  llm.reply({ status: 200, body: reply });
  const { body } = await app.chat({ query: 'x' });
  expect(body['usage']).toMatchObject({ cache_write_tokens: 300_000, reasoning_tokens: 40_000, cost: 2.48 });
});
