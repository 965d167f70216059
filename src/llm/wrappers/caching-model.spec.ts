import { describe, expect, it } from 'vitest';
import { outcome, down, fails } from '../../../test/support/faulty-models.js';
import { says, ScriptedChatModel, type Scripted } from '../../../test/support/scripted-chat-model.js';
import { MemoryCache } from '../../cache/index.js';
import type { ChatModel } from '../chat/chat-model.js';
import type { ChatRequest, ChatResult } from '../chat/chat.types.js';
import { CachingModel, requestKey } from './caching-model.wrapper.js';

const REQUEST: ChatRequest = { messages: [{ role: 'user', content: 'hi' }], parameters: { temperature: 0, topP: 1 } };
const tick = () => new Promise((resolve) => setImmediate(resolve));

function cached(script: readonly Scripted[], cache = new MemoryCache(60_000, 1_000_000)) {
  const inner = new ScriptedChatModel(script);
  return { inner, cache, model: new CachingModel(inner, cache) };
}

/** A model that replies on demand, and can be aborted. */
function slow() {
  const given: { answer: (result: ChatResult) => void; signal: AbortSignal }[] = [];
  const reply: Scripted = (_request, signal) =>
    new Promise((resolve, reject) => {
      given.push({ answer: resolve, signal: signal! });
      signal!.addEventListener('abort', () => reject(signal!.reason as Error));
    });
  return { given, reply };
}

async function streamed(model: ChatModel, request: ChatRequest): Promise<string> {
  let text = '';
  for await (const part of model.stream(request)) if (part.type === 'text') text += part.text;
  return text;
}

describe('a reply from the cache', () => {
  it('is returned again, streamed or not, marked as cached and without usage', async () => {
    const { model, inner } = cached([says('fine')]);
    expect(await model.generate(REQUEST)).toMatchObject({ message: { content: 'fine' }, usage: { totalTokens: 15 } });
    const again = await model.generate(structuredClone(REQUEST));
    expect(again).toMatchObject({ message: { content: 'fine' }, isCached: true });
    expect(again.usage).toBeUndefined();
    expect(await streamed(model, { parameters: { topP: 1, temperature: 0 }, messages: REQUEST.messages })).toBe('fine');
    expect(inner.requests).toHaveLength(1);
  });

  it('applies only to the same request of the same tenant', async () => {
    const others: [ChatRequest, string?][] = [
      [{ ...REQUEST, messages: [{ role: 'user', content: 'hi!' }] }],
      [{ ...REQUEST, tools: [{ name: 't', description: '', inputSchema: {} }] }],
      [{ ...REQUEST, parameters: { temperature: 0, topP: 0.5 } }],
      [REQUEST, 'other'],
    ];
    const { model, inner } = cached([says('first'), ...others.map((_, at) => says(`${at}`))]);
    await model.generate(REQUEST, { tenant: 'one' });
    for (const [request, tenant = 'one'] of others) await model.generate(request, { tenant });
    expect(inner.requests).toHaveLength(5);
  });

  it('is not stored if it is not deterministic, truncated, from a fallback, or an error', async () => {
    const warm = { ...REQUEST, parameters: { temperature: 0.7 } };
    for (const request of [warm, { messages: REQUEST.messages }]) {
      const { model, inner } = cached([says('one'), says('two')]);
      await model.generate(request);
      await streamed(model, request);
      expect(inner.requests).toHaveLength(2);
    }
    const cut = says('cut', { finishReason: 'length' });
    const switched = says('other', { switches: [{ from: 'a', to: 'b', code: 'MODEL_TIMEOUT' }] });
    const { model, inner } = cached([cut, switched, down(), says('fine'), says('never')]);
    for (let call = 0; call < 5; call++) await outcome(model.generate(REQUEST));
    expect(inner.requests).toHaveLength(4);
  });

  it('is stored and returned only if the caller accepts it', async () => {
    const { model, inner } = cached([says('one'), says('two'), says('three'), says('four')]);
    const only = (content: string) => ({ accepts: ({ message }: ChatResult) => message.content === content });
    const contents: string[] = [];
    for (const accepted of ['no', 'two', 'two', 'three', 'two', 'three'])
      contents.push((await model.generate(REQUEST, only(accepted))).message.content);
    expect(contents).toEqual(['one', 'two', 'two', 'three', 'four', 'three']);
    expect(inner.requests).toHaveLength(4);
  });

  it('is not read from a damaged, empty or truncated entry', async () => {
    const entries = ['', '{', 'null', '{}', '[]', says(' '), says('cut', { finishReason: 'length' })];
    for (const entry of entries) {
      const { model, inner, cache } = cached([says('fine')]);
      const { provider, name } = inner;
      const key = requestKey({ tenant: '', provider, model: name }, REQUEST);
      await cache.set(key, typeof entry === 'string' ? entry : JSON.stringify(entry));
      for (let call = 0; call < 2; call++) expect(await outcome(model.generate(REQUEST))).toBe('fine');
      expect(inner.requests).toHaveLength(1);
    }
  });

  it('expires after its lifetime, and is evicted if the cache is full', async () => {
    const short = cached([says('one'), says('two')], new MemoryCache(5, 1_000_000));
    await short.model.generate(REQUEST);
    const until = performance.now() + 10;
    while (performance.now() < until) await tick();
    expect(await outcome(short.model.generate(REQUEST))).toBe('two');
    const small = cached([says('one'), says('x'.repeat(2000)), says('three')], new MemoryCache(60_000, 3000));
    await small.model.generate(REQUEST);
    const other = { ...REQUEST, messages: [{ role: 'user', content: 'more' }] } as const;
    expect([await streamed(small.model, other), await streamed(small.model, other)].map((text) => text.length)).toEqual(
      [2000, 5],
    );
  });
});

describe('equal concurrent requests', () => {
  it('share one call, and each gets the whole reply', async () => {
    const { given, reply } = slow();
    const { model, inner } = cached([reply]);
    const all = [model.generate(REQUEST), model.generate(REQUEST)];
    await tick();
    const late = streamed(model, REQUEST);
    await tick();
    given[0]!.answer(says('fine'));
    const [first, second] = await Promise.all(all);
    expect(first).toMatchObject({ message: { content: 'fine' }, usage: { totalTokens: 15 } });
    expect(second).toMatchObject({ message: { content: 'fine' }, isCached: true });
    expect(await late).toBe('fine');
    expect(inner.requests).toHaveLength(1);
  });

  it('keep the call if its first caller leaves, and abort it after the last one', async () => {
    const { given, reply } = slow();
    const { model, inner } = cached([reply, reply, says('anew')]);
    const [one, two] = [new AbortController(), new AbortController()];
    const leader = outcome(model.generate(REQUEST, { signal: one.signal }));
    await tick();
    const follower = outcome(model.generate(REQUEST, { signal: two.signal }));
    await tick();
    one.abort(new Error('away'));
    expect(await leader).toEqual(new Error('away'));
    expect(given[0]!.signal.aborted).toBe(false);
    given[0]!.answer(says('fine'));
    expect(await follower).toBe('fine');
    const other = { ...REQUEST, messages: [{ role: 'user', content: 'other' }] } as const;
    const alone = outcome(model.generate(other, { signal: two.signal }));
    await tick();
    two.abort(new Error('away'));
    expect(await alone).toEqual(new Error('away'));
    expect(given[1]!.signal.aborted).toBe(true);
    expect(await outcome(model.generate(other))).toBe('anew');
    expect(inner.requests).toHaveLength(3);
  });

  it('share an error, which is not cached', async () => {
    const { model } = cached([down(), says('fine')]);
    expect(await Promise.all([outcome(model.generate(REQUEST)), outcome(model.generate(REQUEST))])).toEqual([
      'MODEL_UNAVAILABLE',
      'MODEL_UNAVAILABLE',
    ]);
    expect(await outcome(model.generate(REQUEST))).toBe('fine');
  });
});

it('equal requests do not share an exceeded budget', async () => {
  const over = fails('BUDGET_EXCEEDED', { isRetryable: false });
  const { model, inner } = cached([over, over, says('fine')]);
  const results = [REQUEST, REQUEST, REQUEST].map((request, at) =>
    outcome(at === 1 ? streamed(model, request).then((text) => says(text)) : model.generate(request)),
  );
  expect(await Promise.all(results)).toEqual(['BUDGET_EXCEEDED', 'BUDGET_EXCEEDED', 'fine']);
  expect(inner.requests).toHaveLength(3);
});

it('equal requests report usage once, also if the first caller leaves', async () => {
  const { given, reply } = slow();
  const { model } = cached([reply]);
  const controller = new AbortController();
  const leader = outcome(model.generate(REQUEST, { signal: controller.signal }));
  await tick();
  const followers = [model.generate(REQUEST), model.generate(REQUEST)];
  await tick();
  controller.abort(new Error('away'));
  expect(await leader).toEqual(new Error('away'));
  given[0]!.answer(says('fine'));
  const [first, second] = await Promise.all(followers);
  expect(first).toMatchObject({ usage: { totalTokens: 15 } });
  expect(first!.isCached).toBeUndefined();
  expect(second).toMatchObject({ message: { content: 'fine' }, isCached: true });
  expect(second!.usage).toBeUndefined();
});

describe('the key of a request', () => {
  const called = { tenant: 't', provider: 'p', model: 'm' };
  it('does not depend on the order of fields, or on undefined fields', () => {
    const one = { messages: [], parameters: { temperature: 0, topP: 1 } };
    const same = { parameters: { topP: 1, temperature: 0, seed: undefined }, messages: [] };
    expect(requestKey(called, one)).toBe(requestKey({ ...called }, same));
  });

  it('distinguishes similar requests', () => {
    const keys = [
      requestKey({ tenant: 'a', provider: 'b', model: 'c' }, REQUEST),
      requestKey({ tenant: 'ab', provider: '', model: 'c' }, REQUEST),
      requestKey(called, { messages: [{ role: 'user', content: '1' }] }),
      requestKey(called, { messages: [{ role: 'user', content: 1 as never }] }),
    ];
    expect(new Set(keys).size).toBe(4);
  });
});
