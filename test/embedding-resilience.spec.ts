import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../src/config/index.js';
import { KeyPoolRegistry, ModelStackFactory } from '../src/llm/index.js';
import { createEmbeddingModel } from '../src/llm/embedding-model.factory.js';
import { createModelRegistry } from '../src/llm/model-registry.factory.js';
import { FakeLlm } from './support/fake-llm.js';

const DOWN = { status: 503, body: {} };
const registry = createModelRegistry();
let llm: FakeLlm;
beforeAll(async () => void (llm = await FakeLlm.start()));
afterEach(() => {
  vi.restoreAllMocks();
  llm.reset();
});
afterAll(async () => {
  await registry.close();
  await llm.close();
});

/** The embedding model of a server with these variables, and the factories of its chat models. */
function configured(env: Record<string, string> = {}) {
  const { config } = loadConfig({
    env: {
      ...llm.env,
      EMBEDDING_MODEL: 'embed-1',
      LLM_MAX_ATTEMPTS: '3',
      LLM_RETRY_DELAY_MS: '0',
      LLM_TIMEOUT_MS: '5000',
      ...env,
    },
  });
  const stack = new ModelStackFactory(registry, new KeyPoolRegistry(config.llm), config.llm, null, null);
  const model = createEmbeddingModel(stack, config.llm)!;
  const chat = stack.create({ provider: 'openai', model: 'm', timeoutMs: 60_000, ...config.llm.access.openai });
  return { model, stack, chat };
}

describe('the embedding model of a server', () => {
  it('retries after a transient error, not after a permanent one', async () => {
    const { model } = configured();
    llm.embeddings.reply(DOWN, { reset: true });
    const { vectors } = await model.embed(['a', 'b']);
    expect([vectors.length, model.dimensions, llm.embeddings.requests.length]).toEqual([2, 64, 3]);
    llm.embeddings.reply({ status: 404, body: {} });
    await expect(model.embed(['a'])).rejects.toMatchObject({ code: 'MODEL_REFUSED' });
    expect(llm.embeddings.requests).toHaveLength(4);
  });

  it('does not retry after its time limit', async () => {
    const { model } = configured();
    const now = performance.now.bind(performance);
    llm.embeddings.reply(() => {
      vi.spyOn(performance, 'now').mockImplementation(() => now() + 11_000);
      return DOWN;
    });
    await expect(model.embed(['a'])).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    expect(llm.embeddings.requests).toHaveLength(1);
  });

  it('opens its own circuit breaker when it is down, not that of the chat model', async () => {
    const { model, stack, chat } = configured({ LLM_MAX_ATTEMPTS: '1', LLM_BREAKER_FAILURES: '5' });
    llm.embeddings.always(DOWN);
    llm.always({ text: 'fine' });
    // Neither the window of outcomes nor the pause ends during the test.
    vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    for (let call = 0; call < 20; call++)
      await expect(model.embed(['a'])).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    await expect(model.embed(['a'])).rejects.toMatchObject({ code: 'MODEL_CIRCUIT_OPEN' });
    expect(llm.embeddings.requests).toHaveLength(20);
    expect(stack.circuits().get('openai:embed-1')).toBe('open');
    const { message } = await chat.generate({ messages: [{ role: 'user', content: 'hi' }] });
    expect(message.content).toBe('fine');
  });

  it('shares the concurrency limit of its provider with chat models', async () => {
    const { model, chat } = configured({ LLM_CONCURRENCY: '1', LLM_QUEUE_LIMIT: '0', LLM_MAX_ATTEMPTS: '1' });
    llm.always({ hang: true });
    const controller = new AbortController();
    const asked = chat.generate({ messages: [{ role: 'user', content: 'hi' }] }, { signal: controller.signal });
    asked.catch(() => undefined);
    await llm.waitForRequest();
    await expect(model.embed(['a'])).rejects.toMatchObject({ code: 'MODEL_BUSY' });
    controller.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
    expect((await model.embed(['a'])).vectors).toHaveLength(1);
  });

  it('uses the next API key when one is rate limited or refused', async () => {
    const { model } = configured({ OPENAI_API_KEY: '', OPENAI_API_KEYS: 'k1,k2', LLM_MAX_ATTEMPTS: '1' });
    llm.embeddings.reply({ status: 401, body: {} });
    expect((await model.embed(['a'])).vectors).toHaveLength(1);
    llm.embeddings.reply({ status: 429, body: {} });
    await expect(model.embed(['a'])).rejects.toMatchObject({ code: 'MODEL_RATE_LIMITED' });
    expect(model.dimensions).toBe(64);
  });

  it('aborts with its call, also in the delay between two attempts', async () => {
    const { model } = configured({ LLM_RETRY_DELAY_MS: '60000' });
    const controller = new AbortController();
    llm.embeddings.reply(() => {
      setImmediate(() => controller.abort(new Error('away')));
      return { status: 429, body: {}, headers: { 'retry-after': '9' } };
    });
    await expect(model.embed(['a'], { signal: controller.signal })).rejects.toThrow('away');
    expect(llm.embeddings.requests).toHaveLength(1);
  });
});
