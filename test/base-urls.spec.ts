import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadConfig } from '../src/config/index.js';
import { createAgent, type AppError } from '../src/index.js';
import { createModelRegistry } from '../src/llm/model-registry.factory.js';
import { createAccess } from '../src/llm/wire/wire-access.factory.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';

let llm: FakeLlm;
beforeAll(async () => void (llm = await FakeLlm.start()));
afterEach(() => llm.reset());
afterAll(() => llm.close());

/** The path of the chat endpoint of each provider below `/v1`. */
const PATHS: Readonly<Record<string, string>> = {
  openai: '/v1/responses',
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

describe('the address of an Ollama server', () => {
  it.each(['', '/', '/v1', '/v1/', '?key=1', '/prefix', '/prefix/v1/?key=1'])('may omit /v1: "%s"', async (given) => {
    llm.always({ text: 'ok' });
    const url = new URL(given, new URL(llm.url).origin).href;
    const jackdaw = await startJackdaw({ env: { LLM_PROVIDER: 'ollama', OLLAMA_BASE_URL: url, LLM_MODEL: 'm' } });
    expect((await jackdaw.chat({ query: 'x' })).status).toBe(200);
    await jackdaw.stop();
    const [prefix, query] = [given.includes('prefix') ? '/prefix' : '', given.includes('key') ? '?key=1' : ''];
    expect(llm.envelopes[0]?.path).toBe(`${prefix}/v1/chat/completions${query}`);
  });
});

describe('a base URL without /v1, of a server with the API below /v1', () => {
  const message = { role: 'assistant', content: 'ok' };
  const answer = JSON.stringify({ model: 'm', choices: [{ message, finish_reason: 'stop' }] });
  const event = `data: ${JSON.stringify({ choices: [{ delta: message, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`;
  const vectors = '{"data":[{"index":0,"embedding":[1,0]}]}';
  const unknown = '{"error":"Unexpected endpoint or method. (POST /chat/completions)"}';
  const asked: string[] = [];
  let missing: readonly [status: number, body: string];
  /** The status of a request to the API itself. */
  let found = 200;
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://x');
    asked.push(request.url!);
    let body = '';
    request.on('data', (piece: Buffer) => void (body += piece.toString()));
    request.on('end', () => {
      const isMissing = !pathname.startsWith('/v1/');
      const isStreamed = !isMissing && found === 200 && body.includes('"stream":true');
      response.writeHead(isMissing ? missing[0] : found, {
        'content-type': isStreamed ? 'text/event-stream' : 'application/json',
      });
      if (isMissing) response.end(missing[1]);
      else if (found !== 200) response.end('{"error":{"message":"The model `m` does not exist."}}');
      else response.end(isStreamed ? event : pathname.endsWith('/embeddings') ? vectors : answer);
    });
  });
  let origin: string;
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    asked.length = 0;
    missing = [404, '{"detail":"Not Found"}'];
    found = 200;
  });
  afterAll(() => void server.close());

  const envOf = (provider: string, suffix = '') => ({
    LLM_PROVIDER: provider,
    LLM_MODEL: 'm',
    LLM_API_KEY: 'k',
    LLM_BASE_URL: `${origin}${suffix}`,
  });

  it.each([
    ['vLLM, llama.cpp, LiteLLM', 404, '{"detail":"Not Found"}'],
    ['a proxy', 405, '<html></html>'],
    ['LM Studio', 200, unknown],
  ])('is completed once for the process, and shown in health: %s', async (_server, status, body) => {
    missing = [status, body];
    const jackdaw = await startJackdaw({ env: envOf('openai-compatible', '/?key=1') });
    expect((await jackdaw.chat({ query: 'x' })).body).toMatchObject({ result: 'ok' });
    const events = await (await jackdaw.stream({ query: 'x', model: 'other' })).all();
    expect(events.at(-1)?.event).toBe('run.completed');
    const { body: health } = await jackdaw.get('/api/agent/health');
    await jackdaw.stop();
    const path = '/v1/chat/completions?key=1';
    expect(asked).toEqual(['/chat/completions?key=1', path, path]);
    expect(health['info']).toMatchObject({
      model: { adaptations: { 'openai-compatible': ['/v1 is added to the base URL'] } },
    });
  });

  it.each([
    ['openai', ['/responses', '/v1/responses', '/v1/chat/completions']],
    ['deepseek', ['/chat/completions', '/v1/chat/completions']],
    ['glm', ['/chat/completions', '/v1/chat/completions']],
  ])('is completed for a gateway of %s', async (provider, paths) => {
    const jackdaw = await startJackdaw({ env: envOf(provider) });
    expect((await jackdaw.chat({ query: 'x' })).status).toBe(200);
    await jackdaw.stop();
    expect(asked).toEqual(paths);
  });

  it('is completed for embeddings', async () => {
    const registry = createModelRegistry();
    const model = { provider: 'openai-compatible', model: 'e', baseUrl: origin, timeoutMs: 30_000 };
    await registry.createEmbedding(model).embed(['x']);
    await registry.createEmbedding(model).embed(['x']);
    await registry.close();
    expect(asked).toEqual(['/embeddings', '/v1/embeddings', '/v1/embeddings']);
  });

  describe('and its changing answers', () => {
    const [plain, versioned] = ['/embeddings', '/v1/embeddings'];
    const registry = createModelRegistry();
    afterAll(() => registry.close());
    /** Sends a request; reports the requests to the server, and the status of an error. */
    const embed = async (code: string) => {
      asked.length = 0;
      const address = { model: 'e', baseUrl: `${origin}/?test=${code}`, timeoutMs: 30_000 };
      const outcome = await registry
        .createEmbedding({ provider: 'openai-compatible', ...address })
        .embed(['x'])
        .then(
          () => 200,
          (error: unknown) => (error as AppError).details?.['provider_status'],
        );
      return [outcome, ...asked.map((url) => new URL(url, 'http://x').pathname)];
    };

    it.each([
      [401, 404],
      [403, 404],
      [429, 429],
      [500, 500],
      [503, 503],
    ])('does not learn /v1 from the status %i', async (status, reported) => {
      found = status;
      expect(await embed(`not-${status}`)).toEqual([reported, plain, versioned]);
      missing = [200, vectors];
      expect(await embed(`not-${status}`)).toEqual([200, plain]);
    });

    it.each([400, 422])('learns /v1 from the status %i', async (status) => {
      found = status;
      expect(await embed(`from-${status}`)).toEqual([status, plain, versioned]);
      found = 200;
      expect(await embed(`from-${status}`)).toEqual([200, versioned]);
    });

    it('forgets a learned endpoint that no longer exists', async () => {
      expect(await embed('moved')).toEqual([200, plain, versioned]);
      [found, missing] = [404, [200, vectors]];
      expect(await embed('moved')).toEqual([200, versioned, plain]);
      expect(await embed('moved')).toEqual([200, plain]);
      [found, missing] = [200, [404, '{}']];
      expect(await embed('moved')).toEqual([200, plain, versioned]);
      found = 404;
      expect(await embed('moved')).toEqual([404, versioned, plain]);
      expect(await embed('moved')).toEqual([404, plain, versioned]);
    });
  });

  it('reports the error of the endpoint that exists, and asks no other one again', async () => {
    found = 404;
    const jackdaw = await startJackdaw({ env: envOf('openai-compatible') });
    for (let n = 0; n < 2; n++) {
      const { body } = await jackdaw.chat({ query: 'x' });
      expect(body['detail']).toMatch(/The model `m` does not exist/);
    }
    await jackdaw.stop();
    expect(asked).toEqual(['/chat/completions', '/v1/chat/completions', '/v1/chat/completions']);
  });

  it.each(['/v1beta', '/api/paas/v4', '/v2/'])('is not tried where the base URL has a version: %s', async (suffix) => {
    const jackdaw = await startJackdaw({ env: envOf('openai-compatible', suffix) });
    const { body } = await jackdaw.chat({ query: 'x' });
    await jackdaw.stop();
    expect(asked).toHaveLength(1);
    expect(body['detail']).toContain(`the base URL ${origin}${suffix.replace(/\/$/, '')}, which ends with /v1`);
  });
});

describe("the host of a provider's own API", () => {
  it('needs no path, and gets no request besides the one to its path', () => {
    const settings = { provider: 'glm', model: 'm', apiKey: 'k', timeoutMs: 1 };
    const rule = { name: 'glm', defaultBaseUrl: 'https://open.bigmodel.cn/api/paas/v4' };
    for (const baseUrl of ['https://open.bigmodel.cn', 'https://open.bigmodel.cn/', rule.defaultBaseUrl]) {
      expect(createAccess(rule, 'm', { ...settings, baseUrl }).baseUrl).toBe(rule.defaultBaseUrl);
    }
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
      config: { DATA_DIR: newFolder(), LOG_LEVEL: 'silent' },
    });
    await agent.chat('x');
    await agent.close();
    expect(llm.envelopes[0]?.path).toBe('/v1/responses?v=1');
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
