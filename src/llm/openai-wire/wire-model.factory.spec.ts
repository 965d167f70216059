import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeLlm } from '../../../test/support/fake-llm.js';
import type { FakeReply } from '../../../test/support/fake-llm.types.js';
import type { EmbeddingModel } from '../embedding-model.js';
import { createModelRegistry } from '../model-registry.factory.js';

const registry = createModelRegistry();
let llm: FakeLlm;
let model: EmbeddingModel;
const settings = { provider: 'openai', model: 'embed-1', apiKey: 'key-0123', timeoutMs: 60_000 };

beforeAll(async () => void (llm = await FakeLlm.start()));
beforeEach(() => {
  llm.reset();
  model = registry.createEmbedding({ ...settings, baseUrl: llm.url });
});
afterAll(async () => {
  await registry.close();
  await llm.close();
});

const body = (data: unknown, more: object = {}): FakeReply => ({ status: 200, body: { data, ...more } });

describe('an embedding model', () => {
  it('returns a vector for each text, in order, and their dimensions', async () => {
    expect(model).toMatchObject({ provider: 'openai', name: 'embed-1', dimensions: null });
    const { vectors, ...rest } = await model.embed(['a cat', 'tea', 'a cat']);
    expect(vectors.map(({ length }) => length)).toEqual([64, 64, 64]);
    expect(vectors[0]).toEqual(vectors[2]);
    expect(vectors[0]).not.toEqual(vectors[1]);
    expect(rest).toEqual({ model: 'embed-1', usage: { promptTokens: 7, totalTokens: 7 } });
    expect(llm.embeddings.requests).toEqual([{ model: 'embed-1', input: ['a cat', 'tea', 'a cat'] }]);
    expect(model.dimensions).toBe(64);
  });

  it('parses a reply without indexes, usage or a model name', async () => {
    llm.embeddings.reply(body([{ embedding: [1, 0] }, { embedding: [0, 1] }]));
    expect(await model.embed(['a', 'b'])).toEqual({ vectors: [[1, 0], [0, 1]], model: 'embed-1' }); // prettier-ignore
  });

  it.each<[string, FakeReply, string]>([
    ['too few vectors', body([{ embedding: [1] }]), 'MODEL_BAD_REPLY'],
    ['no data', body(undefined), 'MODEL_BAD_REPLY'],
    ['an empty vector', body([{ embedding: [] }, { embedding: [] }]), 'MODEL_BAD_REPLY'],
    ['a vector with a null', body([{ embedding: [1] }, { embedding: [null] }]), 'MODEL_BAD_REPLY'],
    ['a null instead of a vector', body([null, { embedding: [1] }]), 'MODEL_BAD_REPLY'],
    ['vectors of two lengths', body([{ embedding: [1] }, { embedding: [1, 2] }]), 'MODEL_BAD_REPLY'],
    ['a duplicate index', body([{ index: 1, embedding: [1] }, { index: 1, embedding: [2] }]), 'MODEL_BAD_REPLY'], // prettier-ignore
    ['an index out of range', body([{ index: 5, embedding: [1] }, { index: 0, embedding: [2] }]), 'MODEL_BAD_REPLY'], // prettier-ignore
    ['an HTML page', { status: 200, body: '<html></html>' }, 'MODEL_BAD_REPLY'],
    ['an unknown model', { status: 404, body: { error: { message: 'no embed-1' } } }, 'MODEL_REFUSED'],
    ['an invalid key', { status: 401, body: { error: { message: 'bad key-0123' } } }, 'MODEL_AUTHENTICATION'],
    ['a rate limit', { status: 429, body: {} }, 'MODEL_RATE_LIMITED'],
    ['a server error', { status: 503, body: {} }, 'MODEL_UNAVAILABLE'],
    ['a connection reset', { reset: true }, 'MODEL_UNREACHABLE'],
    ['silence', { hang: true }, 'MODEL_TIMEOUT'],
  ])('reports the error when the reply is %s', async (_what, reply, code) => {
    llm.embeddings.reply(reply);
    if ('hang' in reply) model = registry.createEmbedding({ ...settings, baseUrl: llm.url, timeoutMs: 50 });
    const error: unknown = await model.embed(['a', 'b']).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, details: { provider: 'openai', model: 'embed-1' } });
    expect((error as Error).message).not.toContain('key-0123');
  });

  it('is aborted with the reason of the signal', async () => {
    const reason = new Error('enough');
    await expect(model.embed(['a'], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(llm.embeddings.requests).toEqual([]);
  });
});

describe('a provider', () => {
  it.each(['openai', 'glm', 'ollama', 'openai-compatible'])('%s has embeddings', (provider) => {
    expect(registry.createEmbedding({ ...settings, provider, baseUrl: llm.url })).toMatchObject({ provider });
  });

  it.each(['deepseek', 'offline'])('%s reports that it has no embeddings', (provider) => {
    expect(() => registry.createEmbedding({ ...settings, provider })).toThrow(
      `The model provider "${provider}" has no embeddings: leave EMBEDDING_MODEL out, or choose another LLM_PROVIDER.`,
    );
  });
});
