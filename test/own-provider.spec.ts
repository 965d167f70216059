import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  createAgent,
  ChatModel,
  ModelFactory,
  type ChatRequest,
  type ChatResult,
  type ChatStreamPart,
  type ModelCapabilities,
} from '../src/index.js';
import { readFileSync } from 'node:fs';
import { createModelRegistry } from '../src/llm/model-registry.factory.js';
import { AcmeFactory } from './support/acme.factory.js';
import { tableCells } from './support/markdown-table.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { TestTools } from './support/test.tool.js';

/** A model without an existing wire format. */
class EchoModel extends ChatModel {
  readonly provider = 'echo';
  readonly capabilities: ModelCapabilities = { vision: false, functionCalling: false, jsonMode: false };

  constructor(readonly name: string) {
    super();
  }

  async generate({ messages }: ChatRequest): Promise<ChatResult> {
    const { content: said = '' } = messages.at(-1) ?? {};
    const content = `Final Answer: ${typeof said === 'string' ? said : ''}`;
    return { message: { role: 'assistant', content }, finishReason: 'stop', model: this.name };
  }

  async *stream(request: ChatRequest): AsyncGenerator<ChatStreamPart, void> {
    yield { type: 'finish', result: await this.generate(request) };
  }
}

/** Records the tools of its requests. */
class NativeEchoModel extends EchoModel {
  static readonly tools: ChatRequest['tools'][] = [];
  override readonly capabilities: ModelCapabilities = { vision: false, functionCalling: true, jsonMode: false };

  override generate(request: ChatRequest): Promise<ChatResult> {
    NativeEchoModel.tools.push(request.tools);
    return super.generate(request);
  }
}

class EchoFactory extends ModelFactory {
  readonly name = 'echo';
  readonly defaultBaseUrl = undefined;
  readonly defaultModel = 'echo-1';

  create({ model = this.defaultModel }: { model?: string }): ChatModel {
    return model.startsWith('native') ? new NativeEchoModel(model) : new EchoModel(model);
  }
}

let llm: FakeLlm;
let jackdaw: Jackdaw;
beforeAll(async () => {
  llm = await FakeLlm.start();
  const env = { LLM_PROVIDER: 'acme', LLM_API_KEY: 'k-1', LLM_BASE_URL: llm.url };
  const options = { modelFactories: [new AcmeFactory(), new EchoFactory()] };
  jackdaw = await startJackdaw({ env, options, tools: [new TestTools()] });
});
afterEach(() => llm.reset());
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

it('a custom provider is chosen by its name, and answers through the application', async () => {
  llm.reply({ calls: [{ id: 'c', name: 'double', arguments: { n: 2 } }] }).reply({ text: 'four' });
  const { body } = await jackdaw.chat({ query: 'double 2' });
  expect(body).toMatchObject({ result: 'four', model: 'acme-1' });
  expect(llm.lastRequest).toMatchObject({ model: 'acme-1', temperature: 0.7 });
  expect(llm.envelopes[0]?.headers).toMatchObject({ 'x-acme-key': 'k-1' });
  expect(llm.envelopes[0]?.headers.authorization).toBeUndefined();
});

it('a custom model refuses input outside of its capabilities and parameters', async () => {
  const images = [{ url: 'https://example.com/a.png' }];
  expect(await jackdaw.chat({ query: 'x', images })).toMatchObject({ status: 422 });
  expect(await jackdaw.chat({ query: 'x', parameters: { seed: 1 } })).toMatchObject({ status: 400 });
  llm.reply({ text: 'I see.' });
  expect(await jackdaw.chat({ query: 'x', images, model: 'acme-1-vision' })).toMatchObject({ status: 200 });
});

it('the tools of an agent are the same array in every request, so that a model can cache by identity', async () => {
  for (const query of ['one', 'two']) await jackdaw.chat({ query, model: 'echo:native-1' });
  const [first, second] = NativeEchoModel.tools;
  expect(first?.map(({ name }) => name)).toContain('double');
  expect(second).toBe(first);
});

it('a model without a known wire format is chosen by a request', async () => {
  const { body } = await jackdaw.chat({ query: 'hello', model: 'echo:echo-2' });
  expect(body).toMatchObject({ result: 'hello', model: 'echo-2' });
  expect(llm.requests).toHaveLength(0);
});

it('a custom provider works without HTTP, and an unknown provider name stops the start', async () => {
  const env = { LLM_PROVIDER: 'echo', DATA_DIR: newFolder() };
  const agent = await createAgent({ config: env, modelFactories: [new EchoFactory()] });
  expect(await agent.chat('hi')).toMatchObject({ content: 'hi' });
  await agent.close();
  const anonymous = createAgent({ config: { ...env, DATA_DIR: newFolder() } });
  await expect(anonymous).rejects.toThrow('There is no model provider "echo"; set LLM_PROVIDER to one of: anthropic,');
});

describe('docs/providers.md', () => {
  const document = readFileSync('docs/providers.md', 'utf8');

  it('has the code of these tests', () => {
    const code = readFileSync('test/support/acme.factory.ts', 'utf8').replaceAll('../../src/index.js', 'jackdaw');
    expect(document).toContain(`\`\`\`ts\n${code}\`\`\`\n`);
  });

  it('lists every provider, its default model and the parameters that this model refuses', async () => {
    const registry = createModelRegistry();
    const [, ...rows] = tableCells(document).map((cells) => cells.map((cell) => cell.replaceAll('`', '')));
    const settings = { apiKey: 'k', baseUrl: 'http://x', timeoutMs: 1 };
    const made = rows.map(([provider = '', model = '']) =>
      registry.create({ ...settings, provider, ...(model.startsWith('the ') && { model }) }),
    );
    expect(registry.names().filter((name) => !made.some(({ provider }) => provider === name))).toEqual([]);
    expect(
      made.map(({ provider, name, capabilities }) => [
        provider,
        name,
        (capabilities.parameterLimits?.lacking ?? []).join(', '),
      ]),
    ).toEqual(rows.map((cells) => cells.slice(0, 3)));
    await registry.close();
  });
});
