import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadConfig } from '../src/config/index.js';
import { createAgent } from '../src/index.js';
import { createModelRegistry } from '../src/llm/model-registry.factory.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';

let llm: FakeLlm;
beforeAll(async () => void (llm = await FakeLlm.start()));
afterEach(() => llm.reset());
afterAll(() => llm.close());

/** The path of the chat endpoint of each provider below `/v1`. */
const PATHS: Readonly<Record<string, string>> = {
  openai: '/v1/chat/completions',
  anthropic: '/v1/messages',
  azure: '/v1/openai/v1/chat/completions',
  deepseek: '/v1/chat/completions',
  glm: '/v1/chat/completions',
  ollama: '/v1/chat/completions',
  'openai-compatible': '/v1/chat/completions',
};

describe.each(Object.entries(PATHS))('the base URL of %s', (provider, path) => {
  const envOf = (url: string) => ({ LLM_PROVIDER: provider, LLM_MODEL: 'm', LLM_API_KEY: 'k', LLM_BASE_URL: url });
  let jackdaw: Jackdaw | undefined;
  afterEach(() => jackdaw?.stop());

  it('keeps its query after the path, also from a complete endpoint', async () => {
    llm.always({ text: 'ok' });
    const endpoint = provider === 'anthropic' ? '/messages' : '/chat/completions';
    jackdaw = await startJackdaw({ env: envOf(`${llm.url}/${endpoint}?api-version=1&b=%2F/`) });
    expect((await jackdaw.chat({ query: 'x' })).status).toBe(200);
    expect(llm.envelopes[0]?.path).toBe(`${path}?api-version=1&b=%2F/`);
  });
});

describe('the base URL of embeddings', () => {
  it.each([
    ['openai-compatible', '/v1/chat/completions?api-version=1', '/v1/embeddings?api-version=1'],
    ['ollama', '/v1/?api-version=1', '/v1/embeddings?api-version=1'],
    ['azure', '/?api-version=preview', '/openai/v1/embeddings?api-version=preview'],
  ])('keeps its query and replaces the chat endpoint: %s', async (provider, given, path) => {
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url);
      response.setHeader('content-type', 'application/json');
      request.resume().on('end', () => response.end('{"data":[{"index":0,"embedding":[1,0]}]}'));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { config } = loadConfig({
      env: {
        LLM_PROVIDER: provider,
        LLM_MODEL: 'm',
        LLM_API_KEY: 'k',
        LLM_BASE_URL: `http://127.0.0.1:${port}${given}`,
      },
    });
    const registry = createModelRegistry();
    const access = config.llm.access[provider as 'azure'];
    await registry.createEmbedding({ provider, model: 'e', timeoutMs: 30_000, ...access }).embed(['x']);
    await registry.close();
    server.close();
    expect(asked).toEqual([path]);
  });
});

describe('a complete endpoint in code', () => {
  it('is shortened to its base URL', async () => {
    llm.always({ text: 'ok' });
    const apiUrl = `${llm.url}/chat/completions?v=1`;
    const agent = await createAgent({
      llm: { apiType: 'openai', apiKey: 'k', apiUrl, model: 'm' },
      env: { DATA_DIR: newFolder(), LOG_LEVEL: 'silent' },
    });
    await agent.chat('x');
    await agent.close();
    expect(llm.envelopes[0]?.path).toBe('/v1/chat/completions?v=1');
  });
});

describe('an agent with a provider but without a model', () => {
  const model = (provider: string, name?: string) => ({ provider, ...(name !== undefined && { name }) });

  it('uses LLM_MODEL only for the provider of LLM_PROVIDER', async () => {
    llm.always({ text: 'ok' });
    const agents = [
      { name: 'same', model: model('openai') },
      { name: 'named', model: model('openai', 'gpt-4o-mini') },
      { name: 'other', model: model('deepseek') },
    ];
    const env = { ...llm.env, LLM_MODEL: 'gpt-4o', DEEPSEEK_API_KEY: 'k', DEEPSEEK_BASE_URL: llm.url };
    const jackdaw = await startJackdaw({ env, options: { agents } });
    for (const { name } of agents) expect((await jackdaw.chat({ query: 'x', agent: name })).status).toBe(200);
    await jackdaw.stop();
    expect(llm.requests.map((request) => request.model)).toEqual(['gpt-4o', 'gpt-4o-mini', 'deepseek-v4-flash']);
  });

  it('uses LLM_MODEL with a provider without a default model, and LLM_CAPABILITIES', async () => {
    llm.always({ text: 'ok' });
    const agents = [{ name: 'same', model: model('openai-compatible') }];
    const env = { ...llm.envOf('openai-compatible'), LLM_MODEL: 'my-model', LLM_CAPABILITIES: 'vision' };
    const jackdaw = await startJackdaw({ env, options: { agents } });
    const images = [{ url: 'data:image/png;base64,iVBORw0KGgo=' }];
    expect((await jackdaw.chat({ query: 'x', agent: 'same', images })).status).not.toBe(422);
    await jackdaw.stop();
    expect(llm.requests.map((request) => request.model)).toEqual(['my-model']);
  });
});
