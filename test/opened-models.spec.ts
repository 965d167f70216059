import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { enhance, type OpenedModels, type OpenModelsOptions, openModels, type TracedCall } from '../src/index.js';
import { AcmeFactory } from './support/acme.factory.js';
import { CALL_METHODS, ask } from './support/enhanced-calls.js';
import { FakeLlm } from './support/fake-llm.js';

Logger.overrideLogger(false);

let llm: FakeLlm;
const opened: OpenedModels[] = [];
beforeAll(async () => void (llm = await FakeLlm.start()));
afterEach(async () => {
  llm.reset();
  for (const models of opened.splice(0)) await models.close();
});
afterAll(() => llm.close());

/** Opens models of the fake LLM, with retries at once. */
async function open({ env, ...options }: OpenModelsOptions = {}): Promise<OpenedModels> {
  const own = { apiType: 'openai', apiKey: 'test', model: 'gpt-4.1', apiUrl: llm.url };
  const models = await openModels({ llm: own, ...options, env: { LLM_RETRY_DELAY_MS: '0', ...env } });
  opened.push(models);
  return models;
}

const DOWN = { status: 503, body: { error: { message: 'down' } } };
const COLD = { messages: [{ role: 'user' as const, content: 'hi' }], parameters: { temperature: 0 } };

describe.each(CALL_METHODS)('a model without an application, by %s', (method) => {
  it('calls tools with enhance', async () => {
    llm.reply({ calls: [{ name: 'double', arguments: { n: 21 } }] }, { text: 'It is 42.' });
    const model = (await open()).create();
    const doubling = enhance(model, [
      {
        name: 'double',
        description: 'Doubles.',
        effect: 'read',
        parameters: { type: 'object', properties: { n: { type: 'integer' } } },
        handler: ({ n }: { n: number }) => n * 2,
      },
    ]);
    expect((await ask(doubling, method, 'double 21')).result.message.content).toBe('It is 42.');
    expect(llm.lastRequest).toMatchObject({ model: 'gpt-4.1', messages: [{}, {}, { role: 'tool', content: '42' }] });
  });

  it('repeats a call after a transient failure, as often as the environment or its choice says', async () => {
    llm.always(DOWN);
    const models = await open({ env: { LLM_MAX_ATTEMPTS: '2' } });
    await expect(ask(models.create(), method, 'hi')).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    expect(llm.requests).toHaveLength(2);
    await expect(ask(models.create({ maxAttempts: 1 }), method, 'hi')).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
    });
    expect(llm.requests).toHaveLength(3);
  });

  it('answers by a fallback model after the first one failed', async () => {
    llm.reply(DOWN, { text: 'Here I am.' });
    const models = await open({ env: { LLM_MAX_ATTEMPTS: '1' } });
    const model = models.create({ fallback: [{ provider: 'openai', model: 'gpt-4.1-mini' }] });
    const { result } = await ask(model, method, 'hi');
    expect(result.message.content).toBe('Here I am.');
    expect(llm.requests.map((request) => request.model)).toEqual(['gpt-4.1', 'gpt-4.1-mini']);
  });

  it('answers an equal request from the cache', async () => {
    llm.reply({ text: 'once' });
    const model = (await open({ env: { LLM_CACHE: 'memory' } })).create();
    const texts = [await ask(model, method, COLD), await ask(model, method, COLD)];
    expect(texts.map(({ result }) => [result.message.content, result.isCached])).toEqual([
      ['once', undefined],
      ['once', true],
    ]);
    expect(llm.requests).toHaveLength(1);
  });

  it('reports its calls to the trace', async () => {
    llm.reply({ text: 'ok', usage: [3, 1] }, { status: 401, body: { error: { message: 'no' } } });
    const seen: TracedCall[] = [];
    const model = (await open({ trace: (call) => void seen.push(call) })).create();
    await ask(model, method, 'hi');
    await expect(ask(model, method, 'hi')).rejects.toMatchObject({ code: 'MODEL_AUTHENTICATION' });
    const call = { provider: 'openai', model: 'gpt-4.1', method, durationMs: expect.any(Number) };
    expect(seen[0]?.firstPartMs === undefined).toBe(method === 'generate');
    expect(seen.map(({ firstPartMs: _first, ...others }) => others)).toEqual([
      { ...call, startedAt: expect.any(Number), result: expect.objectContaining({ finishReason: 'stop' }) },
      { ...call, startedAt: expect.any(Number), error: 'MODEL_AUTHENTICATION' },
    ]);
    expect(seen[0]?.result?.usage).toMatchObject({ totalTokens: 4 });
  });
});

describe('openModels', () => {
  it('knows custom providers', async () => {
    llm.reply({ text: 'four' });
    const models = await open({
      llm: { apiType: 'acme', apiKey: 'k-1', apiUrl: llm.url },
      modelFactories: [new AcmeFactory()],
    });
    expect((await ask(models.create(), 'generate', 'hi')).result.message.content).toBe('four');
    expect(llm.envelopes[0]?.headers).toMatchObject({ 'x-acme-key': 'k-1' });
  });

  it('creates models with parameters, and of any configured provider', async () => {
    llm.reply({ text: 'ok' }, { text: 'ok' });
    const models = await open({ env: { LLM_TEMPERATURE: '0.3', DEEPSEEK_API_KEY: 'd', DEEPSEEK_BASE_URL: llm.url } });
    await ask(models.create({ parameters: { topP: 0.5 } }), 'generate', 'hi');
    expect(llm.lastRequest).toMatchObject({ model: 'gpt-4.1', temperature: 0.3, top_p: 0.5 });
    const other = models.create({ provider: 'deepseek', model: 'deepseek-chat' });
    await ask(other, 'generate', 'hi');
    expect([other.provider, llm.lastRequest.model]).toEqual(['deepseek', 'deepseek-chat']);
  });

  it('rejects calls after close', async () => {
    const models = await open();
    const model = models.create();
    await models.close();
    await expect(ask(model, 'generate', 'hi')).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  it.each<[object, string]>([
    [{ lmm: {} }, 'openModels(): unknown lmm (known: llm, env, files, modelFactories, trace).'],
    [{ llm: { apiType: 'openai', apiKey: ' ' } }, 'openModels(): llm.apiKey is blank: give a text, or omit it.'],
    [{ env: { BUDGET_DAY: 'tokens=5' } }, 'BUDGET_… limits the runs of an application only'],
    [{ env: { LLM_MAX_ATTEMPTS: 'x' } }, 'LLM_MAX_ATTEMPTS'],
  ])('refuses %j', async (options, message) => {
    await expect(openModels(options)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(message),
    });
  });

  it.each<[object, string]>([
    [{ provider: 'opneai' }, 'There is no model provider "opneai"'],
    [{ name: 'x' }, 'create(): unknown name'],
    [{ provider: 'anthropic' }, 'ANTHROPIC_API_KEY'],
  ])('refuses a model of %j', async (choice, message) => {
    const models = await open({ env: { ANTHROPIC_API_KEY: '' } });
    expect(() => models.create(choice)).toThrow(message);
  });
});
