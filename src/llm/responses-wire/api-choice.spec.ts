import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeLlm } from '../../../test/support/fake-llm.js';
import { readStream } from '../../../test/support/fake-llm-stream.js';
import type { FakeReply } from '../../../test/support/fake-llm.types.js';
import { toCompletion, toChunks } from '../../../test/support/fake-llm.js';
import type { ChatRequest } from '../chat/chat.types.js';
import { createModelRegistry } from '../model-registry.factory.js';
import type { ModelSettings } from '../model-settings.types.js';
import type { ModelRegistry } from '../model.registry.js';

const ask: ChatRequest = { messages: [{ role: 'user', content: 'add' }] };
const RESPONSES = '/v1/responses';
const CHAT = '/v1/chat/completions';
const CHAT_USED = 'Chat Completions are used, as there is no Responses API';

let llm: FakeLlm;
let registry: ModelRegistry;
beforeAll(async () => void (llm = await FakeLlm.start()));
beforeEach(() => {
  llm.reset();
  registry = createModelRegistry();
});
afterEach(() => registry.close());
afterAll(() => llm.close());

function make(more: Partial<ModelSettings> = {}) {
  const settings = { provider: 'openai', model: 'gpt-5.6-luna', apiKey: 'k', baseUrl: llm.url, timeoutMs: 60_000 };
  return registry.create({ ...settings, ...more });
}

const paths = () => llm.envelopes.map(({ path }) => path);
const refusal = (status: number, message: string, code: string | null = null): FakeReply => ({
  status,
  body: { error: { message, code } },
});
const request = { model: 'm', messages: [] };

describe('an address without the Responses API', () => {
  const missing: readonly (readonly [string, FakeReply])[] = [
    ['404', refusal(404, 'Not Found')],
    ['405', refusal(405, 'Method Not Allowed')],
    ['a chat completion', { status: 200, body: toCompletion({ text: 'no' }, request) }],
    ['a stream of chat completions', { events: toChunks({ text: 'no' }, request) }],
    ['a page', { status: 200, body: '<!doctype html><p>Welcome</p>' }],
  ];

  it.each(missing)('that answers with %s gets Chat Completions, and no further trial', async (name, reply) => {
    llm.reply(reply, { text: 'first' }).always({ text: 'further' });
    const isStreamed = name.startsWith('a stream');
    const [first] = isStreamed ? await readStream(make().stream(ask)) : [(await make().generate(ask)).message];
    expect(first).toMatchObject({ [isStreamed ? 'text' : 'content']: 'first' });
    await make({ model: 'gpt-4o' }).generate(ask);
    await readStream(make().stream(ask));
    expect(paths()).toEqual([RESPONSES, CHAT, CHAT, CHAT]);
    expect(registry.adaptations()).toEqual(new Map([['openai', [CHAT_USED]]]));
  });

  it.each(missing)('is not remembered if Chat Completions fail too: %s', async (name, reply) => {
    const later = refusal(503, 'later');
    llm.reply(reply, later, reply, later).reply({ text: 'back' });
    const isStreamed = name.startsWith('a stream');
    for (const call of [() => readStream(make().stream(ask)), () => make().generate(ask)])
      await expect(isStreamed ? readStream(make().stream(ask)) : call()).rejects.toMatchObject({
        code: 'MODEL_UNAVAILABLE',
      });
    await make().generate(ask);
    expect(paths()).toEqual([RESPONSES, CHAT, RESPONSES, CHAT, RESPONSES]);
    expect(registry.adaptations()).toEqual(new Map());
  });

  it('without Chat Completions is an unknown address', async () => {
    llm.reply(refusal(404, 'no /responses'), refusal(404, 'no /chat'));
    await expect(make().generate(ask)).rejects.toMatchObject({
      code: 'MODEL_REFUSED',
      message: expect.stringContaining('no /responses') as string,
    });
  });

  it('below a base URL without its version is found', async () => {
    const lost = refusal(404, 'Not Found');
    llm.reply(lost, lost, lost, { text: 'ok' }).always({ text: 'ok' });
    const baseUrl = new URL('/', llm.url).href;
    await make({ baseUrl }).generate(ask);
    await make({ baseUrl }).generate(ask);
    expect(paths()).toEqual(['/responses', RESPONSES, '/chat/completions', CHAT, CHAT]);
  });
});

it('a page in place of a reply is an error at an address whose Responses API has replied', async () => {
  const page = { status: 200, body: '<!doctype html>' };
  for (const call of [() => make().generate(ask), () => readStream(make().stream(ask))]) {
    llm.reply({ text: 'ok' }, page, refusal(404, 'Not Found'), { text: 'as chat' });
    await call();
    await expect(call()).rejects.toMatchObject({ code: 'MODEL_BAD_REPLY' });
    await call();
    await registry.close();
    registry = createModelRegistry();
  }
  const asked = [RESPONSES, RESPONSES, RESPONSES, CHAT];
  expect(paths()).toEqual([...asked, ...asked]);
});

describe('a model without the Responses API', () => {
  const unsupported = "The requested model 'gpt-x' is not supported with the Responses API.";

  it('gets Chat Completions; other models of the address do not', async () => {
    llm.reply(refusal(400, unsupported, 'model_not_found')).always({ text: 'ok' });
    await make({ model: 'gpt-x' }).generate(ask);
    await make({ model: 'gpt-x' }).generate(ask);
    await make().generate(ask);
    expect(paths()).toEqual([RESPONSES, CHAT, CHAT, RESPONSES]);
    expect(registry.adaptations()).toEqual(new Map([['openai:gpt-x', [CHAT_USED]]]));
  });

  it.each(['gpt-4o-search-preview', 'gpt-4o-audio-preview', 'o1-mini'])('by its name: %s', async (model) => {
    llm.reply({ text: 'ok' });
    await make({ model }).generate(ask);
    expect(paths()).toEqual([CHAT]);
  });

  it('is not one that does not exist', async () => {
    llm.reply(refusal(404, 'The model `gpt-x` does not exist', 'model_not_found'));
    await expect(make({ model: 'gpt-x' }).generate(ask)).rejects.toMatchObject({ code: 'MODEL_REFUSED' });
    expect(paths()).toEqual([RESPONSES]);
  });
});

it('another failure does not mean a missing API', async () => {
  llm.reply(refusal(401, 'bad key'), refusal(500, 'broken'), { status: 200, body: { error: { message: 'busy' } } });
  for (const code of ['MODEL_AUTHENTICATION', 'MODEL_UNAVAILABLE', 'MODEL_BAD_REPLY'])
    await expect(make().generate(ask)).rejects.toMatchObject({ code });
  expect(paths()).toEqual([RESPONSES, RESPONSES, RESPONSES]);
});

it.each([
  ['openai', 'auto', 'responses'],
  ['openai', 'responses', 'responses'],
  ['openai', 'chat', 'chat/completions'],
  ['azure', 'auto', 'chat/completions'],
  ['azure', 'responses', 'responses'],
  ['openai-compatible', 'auto', 'chat/completions'],
  ['openai-compatible', 'responses', 'responses'],
  ['deepseek', 'responses', 'chat/completions'],
  ['glm', 'responses', 'chat/completions'],
  ['ollama', 'responses', 'chat/completions'],
] as const)('%s with the API %s uses %s', async (provider, openAiApi, path) => {
  llm.always({ text: 'ok' });
  await make({ provider, openAiApi }).generate(ask);
  await make({ provider, openAiApi }).generate({ ...ask, api: 'chat' });
  const root = provider === 'azure' ? '/v1/openai/v1' : '/v1';
  expect(paths()).toEqual([`${root}/${path}`, `${root}/chat/completions`]);
});

it('the changes of requests to one API do not apply to the other', async () => {
  const model = make({ provider: 'azure', model: 'prod', openAiApi: 'responses' });
  const tools = [{ name: 'add', description: 'Adds.', inputSchema: { type: 'object', properties: {} } }];
  llm.reply(refusal(400, "Function tools are not supported with reasoning; set reasoning_effort to 'none'."));
  llm.always({ text: 'ok' });
  await model.generate({ ...ask, tools, api: 'chat' });
  await model.generate({ ...ask, tools });
  expect(llm.envelopes.map(({ body }) => body['reasoning_effort'])).toEqual([undefined, 'none', undefined]);
});
