import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readStream } from '../../../test/support/fake-llm-stream.js';
import { FakeLlm } from '../../../test/support/fake-llm.js';
import type { ChatModel } from '../chat/chat-model.js';
import type { ChatRequest, ChatStreamPart } from '../chat/chat.types.js';
import { createModelRegistry } from '../model-registry.factory.js';

const registry = createModelRegistry();
const ask: ChatRequest = { messages: [{ role: 'user', content: 'Hello' }] };
const tools = [{ name: 'calculator', description: 'Calculates.', inputSchema: { type: 'object' } }];
let llm: FakeLlm;
let model: ChatModel;

beforeAll(async () => {
  llm = await FakeLlm.start();
  model = registry.create({
    provider: 'openai-compatible',
    model: 'test-model',
    apiKey: 'key-1',
    baseUrl: `${llm.url}/`,
    timeoutMs: 60_000,
    parameters: { temperature: 0.5, maxTokens: 100 },
  });
});
beforeEach(() => llm.reset());
afterAll(async () => {
  await registry.close();
  await llm.close();
});

async function collect(request: ChatRequest): Promise<ChatStreamPart[]> {
  return readStream(model.stream(request));
}

describe('generate', () => {
  it('returns text, finish reason, usage and the model that replied', async () => {
    llm.reply({ text: 'Hi there', model: 'test-model-7', usage: [12, 3] });
    expect(await model.generate(ask)).toEqual({
      message: { role: 'assistant', content: 'Hi there' },
      finishReason: 'stop',
      usage: { promptTokens: 12, completionTokens: 3, totalTokens: 15 },
      model: 'test-model-7',
    });
  });

  it('sends key, messages, tools and parameters; those of the request override the defaults', async () => {
    llm.reply({ text: 'ok' });
    await model.generate({ ...ask, tools, parameters: { temperature: 0, stop: ['END'] } });
    expect(llm.lastRequest).toEqual({
      model: 'test-model',
      messages: [{ role: 'user', content: 'Hello' }],
      tools: [
        {
          type: 'function',
          function: { name: 'calculator', description: 'Calculates.', parameters: { type: 'object', properties: {} } },
        },
      ],
      temperature: 0,
      stop: ['END'],
      max_tokens: 100,
    });
    expect(llm.envelopes[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer key-1', 'content-type': 'application/json' },
    });
  });

  it('returns tool calls', async () => {
    llm.reply({ calls: [{ name: 'calculator', arguments: { expression: '1+1' }, id: 'c1' }] });
    const { message, finishReason } = await model.generate({ ...ask, tools });
    expect(finishReason).toBe('tool_calls');
    expect(message).toEqual({
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'c1', name: 'calculator', arguments: '{"expression":"1+1"}' }],
    });
  });

  it('reuses connections for consecutive calls', async () => {
    llm.always({ text: 'ok' });
    for (let n = 0; n < 8; n++) await model.generate(ask);
    // undici reuses a connection in the next turn of the event loop, so two connections alternate.
    expect(llm.openConnections).toBeLessThanOrEqual(2);
  });
});

describe('stream', () => {
  it('yields reasoning and text incrementally, then the complete reply', async () => {
    llm.reply({ reasoning: 'Let me think', text: 'Hi 你好 there', usage: [7, 2] });
    const parts = await collect(ask);
    expect(parts.slice(0, -1)).toEqual([
      { type: 'reasoning', text: 'Let' },
      { type: 'reasoning', text: ' me' },
      { type: 'reasoning', text: ' think' },
      { type: 'text', text: 'Hi' },
      { type: 'text', text: ' 你好' },
      { type: 'text', text: ' there' },
    ]);
    expect(parts.at(-1)).toEqual({
      type: 'finish',
      result: {
        message: { role: 'assistant', content: 'Hi 你好 there', reasoning: 'Let me think' },
        finishReason: 'stop',
        usage: { promptTokens: 7, completionTokens: 2, totalTokens: 9 },
        model: 'test-model',
      },
    });
    expect(llm.lastRequest).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  it('joins texts that arrive together', async () => {
    const deltas = [
      { reasoning_content: 'Let' },
      { reasoning_content: ' me' },
      { content: 'Hi' },
      { content: ' 你好' },
    ];
    const frames = deltas.map((delta) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`);
    const end = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
    llm.reply({ chunks: [Buffer.from(frames.join('') + end)], type: 'text/event-stream' });
    const parts = await collect(ask);
    expect(parts.slice(0, -1)).toEqual([
      { type: 'reasoning', text: 'Let me' },
      { type: 'text', text: 'Hi 你好' },
    ]);
    expect(parts.at(-1)).toMatchObject({ result: { message: { content: 'Hi 你好', reasoning: 'Let me' } } });
  });

  it('assembles tool calls and yields only the finish', async () => {
    llm.reply({
      calls: [{ name: 'calculator', arguments: { expression: '1+1' } }, { name: 'get_timestamp' }],
    });
    expect(await collect({ ...ask, tools })).toEqual([
      {
        type: 'finish',
        result: {
          message: {
            role: 'assistant',
            content: '',
            toolCalls: [
              { id: 'call_fake_0', name: 'calculator', arguments: '{"expression":"1+1"}' },
              { id: 'call_fake_1', name: 'get_timestamp', arguments: '{}' },
            ],
          },
          finishReason: 'tool_calls',
          usage: { promptTokens: 10, completionTokens: 5, totalTokens: 15 },
          model: 'test-model',
        },
      },
    ]);
  });

  it('reuses the connection after a complete stream and closes it if the reader leaves', async () => {
    llm.always({ text: 'one two three' });
    for (let n = 0; n < 8; n++) await collect(ask);
    expect(llm.openConnections).toBeLessThanOrEqual(2);
    llm.reply({ text: 'one two three', stallAfter: 2 });
    for await (const part of model.stream(ask)) if (part.type === 'text') break;
    await llm.waitForAbort();
  });

  it('accepts a complete reply from a server that does not stream', async () => {
    llm.reply({
      status: 200,
      body: { choices: [{ message: { content: 'whole', tool_calls: null }, finish_reason: 'stop' }] },
    });
    const parts = await collect(ask);
    expect(parts[0]).toEqual({ type: 'text', text: 'whole' });
    expect(parts[1]).toMatchObject({ type: 'finish', result: { finishReason: 'stop' } });
  });

  it('returns a truncated call with the finish reason length', async () => {
    llm.reply({ calls: [{ name: 'calculator', arguments: '{"expression":"1+' }], finishReason: 'length' });
    expect(await collect(ask)).toMatchObject([
      {
        type: 'finish',
        result: { finishReason: 'length', message: { toolCalls: [{ arguments: '{"expression":"1+' }] } },
      },
    ]);
  });

  it('returns the finish reason of a truncated reply, whatever reason follows it', async () => {
    const chunk = (delta: object, finish_reason: string | null) => ({ choices: [{ delta, finish_reason }] });
    llm.reply({ events: [chunk({ content: 'a' }, null), chunk({}, 'length'), chunk({}, 'tool_calls'), '[DONE]'] });
    expect(await collect(ask)).toMatchObject([{}, { type: 'finish', result: { finishReason: 'length' } }]);
  });

  it('accepts a stream that ends directly after its finish reason', async () => {
    llm.reply({ text: 'a', cutAfter: 3 });
    expect((await collect(ask)).at(-1)).toMatchObject({ type: 'finish', result: { finishReason: 'stop' } });
  });
});

it('closes the connections with the registry, and rejects further calls', async () => {
  const other = createModelRegistry();
  const closed = other.create({ provider: 'ollama', baseUrl: llm.url, timeoutMs: 1_000 });
  llm.always({ text: 'ok' });
  await closed.generate(ask);
  expect(llm.envelopes.at(-1)?.headers.authorization).toBeUndefined();
  const before = llm.openConnections;
  await other.close();
  await llm.waitForConnections(before - 1);
  await expect(
    other.create({ provider: 'ollama', baseUrl: llm.url, timeoutMs: 1_000 }).generate(ask),
  ).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
});

describe('a server that refuses stream_options', () => {
  const detail = [{ type: 'extra_forbidden', loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }];
  it.each([
    [422, { object: 'error', message: { detail } }],
    [400, { error: { message: 'Unknown parameter: stream_options' } }],
  ])('with %d gets the request again without it, and later requests too', async (status, body) => {
    const refusing = `refuses-with-${status}`;
    const fresh = registry.create({
      provider: 'openai-compatible',
      model: refusing,
      baseUrl: llm.url,
      timeoutMs: 60_000,
    });
    llm.reply({ status, body }).always({ text: 'fine' });
    for (let n = 0; n < 2; n++) {
      const [text] = await readStream(fresh.stream(ask));
      expect(text).toEqual({ type: 'text', text: 'fine' });
    }
    expect(llm.requests.map(({ stream_options }) => stream_options !== undefined)).toEqual([true, false, false]);
  });

  it('is not assumed for another refusal', async () => {
    llm.reply({ status: 400, body: { error: { message: 'no' } } });
    await expect(collect(ask)).rejects.toMatchObject({ code: 'MODEL_REFUSED' });
    expect(llm.requests).toHaveLength(1);
  });
});
