import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readStream } from '../../../../test/support/fake-llm-stream.js';
import { FakeLlm } from '../../../../test/support/fake-llm.js';
import type { FakeScript } from '../../../../test/support/fake-llm.types.js';
import type { ChatModel } from '../../chat/chat-model.js';
import type { ChatRequest, ModelParameters } from '../../chat/chat.types.js';
import { createModelRegistry } from '../../model-registry.factory.js';

const registry = createModelRegistry();
const ask: ChatRequest = { messages: [{ role: 'user', content: 'Hello' }] };
const tools = [{ name: 'add', description: 'Adds.', inputSchema: { properties: {} } }];
let llm: FakeLlm;

beforeAll(async () => void (llm = await FakeLlm.start()));
beforeEach(() => llm.reset());
afterAll(async () => {
  await registry.close();
  await llm.close();
});

function claude(model = 'claude-haiku-5-5', parameters?: ModelParameters): ChatModel {
  const settings = { provider: 'anthropic', model, apiKey: 'key-1', baseUrl: llm.url, timeoutMs: 60_000 };
  return registry.create({ ...settings, ...(parameters && { parameters }) });
}

async function sent(request: ChatRequest, model?: string, parameters?: ModelParameters) {
  llm.reply({ text: 'ok' });
  await claude(model, parameters).generate(request);
  return llm.lastRequest;
}

const MARK = { cache_control: { type: 'ephemeral' } };

describe('a request', () => {
  it('goes to /v1/messages with key, version, system text, tools and max_tokens', async () => {
    const messages = [{ role: 'system', content: 'Be kind.' } as const, ...ask.messages];
    expect(await sent({ messages, tools })).toEqual({
      model: 'claude-haiku-5-5',
      max_tokens: 32_000,
      system: [{ type: 'text', text: 'Be kind.', ...MARK }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello', ...MARK }] }],
      tools: [{ name: 'add', description: 'Adds.', input_schema: { type: 'object', properties: {} } }],
      thinking: { type: 'adaptive', display: 'summarized' },
    });
    expect(llm.envelopes[0]).toMatchObject({
      path: '/v1/messages',
      headers: { 'x-api-key': 'key-1', 'anthropic-version': '2026-10-21', 'content-type': 'application/json' },
    });
    expect(llm.envelopes[0]?.headers.authorization).toBeUndefined();
  });

  it('with a temperature has the API version that supports it', async () => {
    const body = await sent(ask, 'claude-sonnet-4-5', { temperature: 0.5, maxTokens: 9, stop: ['END'] });
    expect(body).toMatchObject({ temperature: 0.5, max_tokens: 9, stop_sequences: ['END'] });
    expect(body).not.toHaveProperty('thinking');
    expect(llm.envelopes[0]?.headers['anthropic-version']).toBe('2023-06-01');
  });

  it.each([
    ['auto', undefined],
    ['none', { type: 'none' }],
    ['required', { type: 'any' }],
    [{ name: 'add' }, { type: 'tool', name: 'add' }],
  ] as const)('with the tool choice %j sends %j', async (toolChoice, expected) => {
    const { tool_choice } = await sent({ ...ask, tools, toolChoice }, 'claude-sonnet-4-5');
    expect(tool_choice).toEqual(expected);
  });

  it('without tools, but with calls in its history, has placeholder tools that cannot be called', async () => {
    const toolCalls = [{ id: 'c', name: 'gone', arguments: '{}' }];
    const body = await sent({
      messages: [
        ...ask.messages,
        { role: 'assistant', content: '', toolCalls },
        { role: 'tool', toolCallId: 'c', name: 'gone', content: '1' },
      ],
    });
    expect(body).toMatchObject({
      tools: [{ name: 'gone', input_schema: { type: 'object' } }],
      tool_choice: { type: 'none' },
    });
  });
});

describe.each(['generate', 'stream'] as const)('%s', (verb) => {
  async function reply(script: FakeScript, request = ask) {
    llm.reply(script);
    if (verb === 'generate') return claude().generate(request);
    const last = (await readStream(claude().stream(request))).at(-1);
    return last?.type === 'finish' ? last.result : undefined;
  }

  it('returns text, usage and the model that replied', async () => {
    expect(await reply({ text: 'Hi 你好 there', model: 'claude-haiku-5-5-20261007', usage: [12, 3] })).toEqual({
      message: { role: 'assistant', content: 'Hi 你好 there' },
      finishReason: 'stop',
      usage: { promptTokens: 12, completionTokens: 3, totalTokens: 15 },
      model: 'claude-haiku-5-5-20261007',
    });
    expect(await reply({ text: 'a', usage: null })).not.toHaveProperty('usage');
  });

  it('returns reasoning, and signed blocks that go back beside their calls', async () => {
    const calls = [
      { id: 'c', name: 'add', arguments: { a: 1 } },
      { id: 'd', name: 'add' },
    ];
    const result = await reply({ reasoning: 'Let me see', text: 'Adding.', calls }, { ...ask, tools });
    expect(result).toMatchObject({ finishReason: 'tool_calls' });
    expect(result?.message).toEqual({
      role: 'assistant',
      content: 'Adding.',
      reasoning: 'Let me see',
      signedReasoning: {
        provider: 'anthropic',
        model: 'claude-haiku-5-5',
        blocks: [
          {
            value: { type: 'thinking', thinking: 'Let me see', signature: 'signed-by-the-fake' },
            text: 0,
            calls: 0,
          },
        ],
      },
      toolCalls: [
        { id: 'c', name: 'add', arguments: '{"a":1}' },
        { id: 'd', name: 'add', arguments: '{}' },
      ],
    });
    const { messages } = await sent({ ...ask, tools, messages: [...ask.messages, result!.message] });
    expect(messages[1]).toMatchObject({
      content: [{ type: 'thinking', thinking: 'Let me see', signature: 'signed-by-the-fake' }, {}, {}, {}],
    });
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['something_new', 'stop'],
  ])('maps the stop reason %s to %s', async (finishReason, expected) => {
    expect(await reply({ text: 'a', finishReason })).toMatchObject({ finishReason: expected });
  });

  it('returns a truncated call with the finish reason length', async () => {
    const result = await reply({ calls: [{ id: 'c', name: 'add', arguments: '{"a": 1' }], finishReason: 'length' });
    expect(result).toMatchObject({ finishReason: 'length', message: { toolCalls: [{ id: 'c' }] } });
  });

  it.each<[string, FakeScript, object]>([
    ['HTML', { status: 200, body: '<p>Login' }, { code: 'MODEL_BAD_REPLY' }],
    ['an empty body', { status: 200, body: '' }, { code: 'MODEL_BAD_REPLY' }],
    ['no content', { status: 200, body: { type: 'message' } }, { code: 'MODEL_BAD_REPLY' }],
    ['no stop reason', { text: 'a', finishReason: null }, { code: 'MODEL_BAD_REPLY' }],
    ['a reset', { reset: true }, { code: 'MODEL_UNREACHABLE' }],
    ['401', { status: 401, body: wrong('authentication_error') }, { code: 'MODEL_AUTHENTICATION', isRetryable: false }],
    ['400', { status: 400, body: wrong('invalid_request_error') }, { code: 'MODEL_REFUSED', isRetryable: false }],
    [
      '429',
      { status: 429, body: wrong('rate_limit_error'), headers: { 'retry-after': '3' } },
      { code: 'MODEL_RATE_LIMITED', details: { retry_after_ms: 3000 } },
    ],
    ['529', { status: 529, body: wrong('overloaded_error') }, { code: 'MODEL_UNAVAILABLE', isRetryable: true }],
  ])('fails after %s with a matching error code', async (_name, script, expected) => {
    await expect(reply(script)).rejects.toMatchObject(expected);
    expect(llm.requests).toHaveLength(1);
  });

  it('quotes the error message of Anthropic', async () => {
    const refusal = reply({ status: 400, body: wrong('invalid_request_error') });
    await expect(refusal).rejects.toThrow('(HTTP 400): this is why.');
  });
});

function wrong(type: string) {
  return { type: 'error', error: { type, message: 'this is why' }, request_id: 'req_1' };
}

describe('a stream', () => {
  it('yields reasoning and text incrementally', async () => {
    llm.reply({ reasoning: 'Let me', text: 'Hi there' });
    const parts = await readStream(claude().stream(ask));
    expect(parts.slice(0, -1)).toEqual([
      { type: 'reasoning', text: 'Let' },
      { type: 'reasoning', text: ' me' },
      { type: 'text', text: 'Hi' },
      { type: 'text', text: ' there' },
    ]);
    expect(llm.lastRequest).toMatchObject({ stream: true });
  });

  const call = { calls: [{ id: 'c', name: 'add', arguments: '{"a": 1' }] };
  it.each<[string, FakeScript, string]>([
    ['is truncated in its text', { text: 'one two', cutAfter: 4 }, 'MODEL_BAD_REPLY'],
    ['is truncated before its end', { text: 'one', cutAfter: 6 }, 'MODEL_BAD_REPLY'],
    ['is reset', { text: 'one two', resetAfter: 4 }, 'MODEL_BAD_REPLY'],
    ['ends with an incomplete input', call, 'MODEL_BAD_REPLY'],
    ['is broken JSON', { events: ['{"type":"message_sta'] }, 'MODEL_BAD_REPLY'],
    ['reports an overload', { events: [{ type: 'ping' }, wrong('overloaded_error')] }, 'MODEL_UNAVAILABLE'],
    ['reports a rate limit', { events: [wrong('rate_limit_error')] }, 'MODEL_RATE_LIMITED'],
    ['reports an unknown error', { events: [wrong('strange_error')] }, 'MODEL_BAD_REPLY'],
  ])('that %s fails', async (_name, script, code) => {
    llm.reply(script);
    await expect(readStream(claude().stream({ ...ask, tools }))).rejects.toMatchObject({ code, isRetryable: true });
  });

  it('that falls silent is aborted, and its connection closed', async () => {
    llm.reply({ text: 'one two', stallAfter: 4 });
    const settings = { provider: 'anthropic', apiKey: 'k', baseUrl: llm.url, timeoutMs: 1000 };
    await expect(readStream(registry.create(settings).stream(ask))).rejects.toMatchObject({ code: 'MODEL_TIMEOUT' });
    await llm.waitForAbort();
  });

  it('is cancelled by its signal, and reuses its connection when it is complete', async () => {
    const controller = new AbortController();
    llm.reply({ text: 'one two', stallAfter: 4 });
    const reading = (async () => {
      for await (const part of claude().stream(ask, controller)) if (part.type === 'text') controller.abort('enough');
    })();
    await expect(reading).rejects.toBe('enough');
    await llm.waitForAbort();
    llm.always({ text: 'one two' });
    const model = claude();
    for (let n = 0; n < 6; n++) await readStream(model.stream(ask));
    expect(llm.openConnections).toBeLessThanOrEqual(3);
  });

  it('accepts a complete reply from a server that does not stream', async () => {
    const content = [{ type: 'thinking', thinking: 't' }, { type: 'text', text: 'whole' }, null, { type: 'new' }];
    llm.reply({ status: 200, body: { content, stop_reason: 'end_turn' } });
    const parts = await readStream(claude().stream(ask));
    expect(parts.slice(0, 2)).toEqual([
      { type: 'reasoning', text: 't' },
      { type: 'text', text: 'whole' },
    ]);
    expect(parts[2]).toMatchObject({ result: { finishReason: 'stop', message: { content: 'whole' } } });
  });

  it('keeps the place of a thinking block if a truncated reply has a call without a name', async () => {
    const thinking = { type: 'thinking', thinking: 't', signature: 's' };
    const content = [{ type: 'tool_use', id: 'a' }, thinking, { type: 'tool_use', id: 'b', name: 'add', input: {} }];
    llm.reply({ status: 200, body: { content, stop_reason: 'max_tokens' } });
    const { message } = await claude().generate(ask);
    expect(message.toolCalls?.map(({ name }) => name)).toEqual(['add']);
    expect(message.signedReasoning?.blocks).toEqual([{ value: thinking, text: 0, calls: 0 }]);
  });
});
