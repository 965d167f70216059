import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { FakeLlm } from '../../test/support/fake-llm.js';
import type { ChatRequest, ToolSpec } from './chat/chat.types.js';
import { createModelRegistry } from './model-registry.factory.js';
import type { ModelSettings } from './model-settings.types.js';
import type { ModelRegistry } from './model.registry.js';

const text = { type: 'string', minLength: 1 };
const written = { type: 'string', description: 'minLength: 1' };
const closed = (a: unknown, required = ['a']) => ({
  type: 'object',
  properties: { a },
  required,
  additionalProperties: false,
});
const tool = (name: string, inputSchema: ToolSpec['inputSchema']): ToolSpec => ({
  name,
  description: 'Does it.',
  inputSchema,
});
const OPEN = { type: 'object', properties: { a: text }, required: ['a'] };
const tools = [tool('whole', closed(text)), tool('optional', closed(text, [])), tool('open', OPEN)];
const ask: ChatRequest = { messages: [{ role: 'user', content: 'go' }], tools };

let llm: FakeLlm;
let registry: ModelRegistry;
beforeAll(
  async () =>
    void (llm = await FakeLlm.start({ strict: ({ model }) => (model.startsWith('claude') ? 'anthropic' : 'openai') })),
);
beforeEach(() => {
  llm.reset();
  llm.always({ text: 'ok' });
  registry = createModelRegistry();
});
afterEach(() => registry.close());
afterAll(() => llm.close());

async function send(settings: Partial<ModelSettings>, request = ask): Promise<readonly Record<string, unknown>[]> {
  const access = { provider: 'openai', apiKey: 'k', baseUrl: llm.url, timeoutMs: 60_000 };
  await registry.create({ ...access, ...settings }).generate(request);
  return llm.envelopes.at(-1)!.body['tools'] as Record<string, unknown>[];
}

it('OpenAI enforces the schema of a tool that is closed and requires all properties; of others it is unchanged', async () => {
  const [whole, ...others] = await send({ model: 'gpt-5.6-luna' });
  expect(whole).toMatchObject({ name: 'whole', strict: true, parameters: closed(written) });
  expect(others).toMatchObject([
    { strict: false, parameters: closed(text, []) },
    { strict: false, parameters: OPEN },
  ]);
  const [first, ...rest] = await send({ model: 'gpt-4o', openAiApi: 'chat' });
  expect(first).toMatchObject({ function: { strict: true, parameters: closed(written) } });
  for (const one of rest) expect(one['function']).not.toHaveProperty('strict');
  expect(llm.broken).toEqual([]);
});

it('no other server and no model without schemas gets a strict tool', async () => {
  const [old] = await send({ model: 'gpt-3.5-turbo', openAiApi: 'chat' });
  const [other] = await send({ provider: 'openai-compatible', model: 'qwen' });
  for (const one of [old, other]) expect(one!['function']).toMatchObject({ name: 'whole', parameters: closed(text) });
  expect(JSON.stringify(llm.envelopes.map(({ body }) => body))).not.toContain('"strict"');
});

it('Claude enforces at most 20 schemas, none with a union, since 4.5', async () => {
  const many = Array.from({ length: 22 }, (_, n) => tool(`whole_${n}`, closed(text)));
  const union = tool('union', closed({ anyOf: [text, { type: 'null' }] }));
  const sent = await send({ provider: 'anthropic', model: 'claude-sonnet-4-5' }, { ...ask, tools: [union, ...many] });
  expect(sent.map(({ strict = false }) => strict)).toEqual([
    false,
    ...Array.from({ length: 20 }, () => true),
    false,
    false,
  ]);
  expect(sent[1]).toMatchObject({ input_schema: closed(written) });
  const [older] = await send({ provider: 'anthropic', model: 'claude-sonnet-4' });
  expect(older).not.toHaveProperty('strict');
  expect(llm.broken).toEqual([]);
});

it.each([
  ['auto', "Invalid schema for function 'whole': In context=('properties', 'a'), schema must have a 'type' key."],
  ['chat', "Invalid schema for function 'whole': In context=(), schema is invalid."],
  ['chat', "Unknown parameter: 'tools[0].function.strict'."],
] as const)('a refused strict tool is sent as any other: %s, %s', async (openAiApi, message) => {
  llm.reply({ status: 400, body: { error: { message, code: 'invalid_function_parameters' } } });
  const [whole] = await send({ model: 'gpt-4o', openAiApi });
  const isResponses = openAiApi === 'auto';
  expect(isResponses ? whole!['strict'] : (whole!['function'] as { strict?: true }).strict).toBe(
    isResponses ? false : undefined,
  );
  await send({ model: 'gpt-4o', openAiApi });
  expect(llm.requests).toHaveLength(3);
  expect([...registry.adaptations()]).toEqual([['openai:gpt-4o', ['strict is omitted']]]);
});

const TOO_LARGE = {
  type: 'error',
  error: {
    type: 'invalid_request_error',
    message:
      'The compiled grammar is too large, which would cause performance issues. Simplify your tool schemas or reduce the number of strict tools.',
  },
};

it('Claude gets tools without strict schemas after it has refused them as too large', async () => {
  llm.reply({ status: 400, body: TOO_LARGE });
  const settings = { provider: 'anthropic', model: 'claude-sonnet-4-6' };
  for (const one of await send(settings)) expect(one).not.toHaveProperty('strict');
  await send(settings);
  expect(llm.envelopes).toHaveLength(3);
});

it.each([
  ['anthropic', 'claude-sonnet-4-6', TOO_LARGE],
  ['openai', 'gpt-4o', { error: { message: "Invalid schema for response_format 'answer': schema must be simpler." } }],
])(
  '%s gets an instruction in place of a refused schema of the answer, for this request only',
  async (provider, model, body) => {
    const responseFormat = { schema: closed(text) };
    const { messages } = ask;
    llm.reply({ status: 400, body });
    await send({ provider, model }, { messages, responseFormat });
    await send({ provider, model }, { messages, responseFormat });
    const [, second, third] = llm.envelopes.map((envelope) => JSON.stringify(envelope.body));
    expect(second).not.toContain('"json_schema"');
    expect(second).toContain('additionalProperties');
    expect(third).toContain('"json_schema"');
    expect(llm.envelopes).toHaveLength(3);
  },
);
