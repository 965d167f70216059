import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import {
  bearerRoute,
  createAgent,
  ChatModel,
  ModelFactory,
  WireModelFactory,
  type ChatRequest,
  type ChatResult,
  type ChatStreamPart,
} from '../src/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { TestTools } from './support/test.tool.js';

/** A provider that speaks OpenAI's wire, as docs/providers.md has it. */
class AcmeFactory extends WireModelFactory {
  readonly name = 'acme';
  readonly defaultBaseUrl = 'https://api.acme.example/v1';
  readonly defaultModel = 'acme-1';
  protected readonly key = { variable: 'LLM_API_KEY', isRequired: true };
  protected readonly dialect = { maxTokensField: 'max_tokens', reasoningEcho: 'never' } as const;

  protected capabilitiesOf(model: string) {
    return {
      vision: model.endsWith('-vision'),
      functionCalling: true,
      jsonMode: false,
      parameterLimits: { lacking: ['seed'], maxTemperature: 1 },
    } as const;
  }

  protected override routeOf() {
    return (access: Parameters<typeof bearerRoute>[0], path: string) => {
      const { url } = bearerRoute(access, path);
      return { url, headers: { 'x-acme-key': access.apiKey ?? '' } };
    };
  }
}

/** One that speaks nothing known. */
class EchoModel extends ChatModel {
  readonly provider = 'echo';
  readonly capabilities = { vision: false, functionCalling: false, jsonMode: false };

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

class EchoFactory extends ModelFactory {
  readonly name = 'echo';
  readonly defaultBaseUrl = undefined;
  readonly defaultModel = 'echo-1';

  create({ model = this.defaultModel }: { model?: string }): ChatModel {
    return new EchoModel(model);
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

it('a provider of one’s own is chosen by its name, and answers through the application', async () => {
  llm.reply({ calls: [{ id: 'c', name: 'double', arguments: { n: 2 } }] }).reply({ text: 'four' });
  const { body } = await jackdaw.chat({ query: 'double 2' });
  expect(body).toMatchObject({ result: 'four', model: 'acme-1' });
  expect(llm.lastRequest).toMatchObject({ model: 'acme-1', temperature: 0.7 });
  expect(llm.envelopes[0]?.headers).toMatchObject({ 'x-acme-key': 'k-1' });
  expect(llm.envelopes[0]?.headers.authorization).toBeUndefined();
});

it('what its model cannot do and does not take is known', async () => {
  const images = [{ url: 'https://example.com/a.png' }];
  expect(await jackdaw.chat({ query: 'x', images })).toMatchObject({ status: 422 });
  expect(await jackdaw.chat({ query: 'x', parameters: { seed: 1 } })).toMatchObject({ status: 400 });
  llm.reply({ text: 'I see.' });
  expect(await jackdaw.chat({ query: 'x', images, model: 'acme-1-vision' })).toMatchObject({ status: 200 });
});

it('a model that speaks no known wire is asked by a request', async () => {
  const { body } = await jackdaw.chat({ query: 'hello', model: 'echo:echo-2' });
  expect(body).toMatchObject({ result: 'hello', model: 'echo-2' });
  expect(llm.requests).toHaveLength(0);
});

it('is there without HTTP, too, and a name that nobody has stops the start', async () => {
  const env = { LLM_PROVIDER: 'echo', DATA_DIR: newFolder() };
  const agent = await createAgent({ env, modelFactories: [new EchoFactory()] });
  expect(await agent.chat('hi')).toMatchObject({ content: 'hi' });
  await agent.close();
  const nobody = createAgent({ env: { ...env, DATA_DIR: newFolder() } });
  await expect(nobody).rejects.toThrow('There is no model provider "echo"; set LLM_PROVIDER to one of: anthropic,');
});
