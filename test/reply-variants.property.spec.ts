import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { assert, asyncProperty, constantFrom } from 'fast-check';
import { createModelRegistry } from '../src/llm/model-registry.factory.js';
import type { ChatModel, ChatRequest, ChatResult } from '../src/llm/chat/index.js';
import { NativeProtocol } from '../src/reasoning/protocols/native.protocol.js';
import { STREAM_ERRORS } from './support/reply-variants/stream-errors.js';
import { readStream } from './support/fake-llm-stream.js';
import { FakeLlm } from './support/fake-llm.js';
import { anthropicVariant, toAnthropicBody, toAnthropicStream } from './support/reply-variants/anthropic-variants.js';
import { logicalReply, type LogicalReply } from './support/reply-variants/logical-reply.js';
import {
  expectedId,
  openAiVariant,
  toFailedStream,
  toOpenAiBody,
  toOpenAiStream,
} from './support/reply-variants/openai-variants.js';

import { responsesVariant, toResponsesBody, toResponsesStream } from './support/reply-variants/responses-variants.js';

/** Runs of each property; `npm run test:properties` raises it. */
const numRuns = Number(process.env['PROPERTY_RUNS'] ?? 100);
vi.setConfig({ testTimeout: 10_000 + numRuns * 1_000 });

const protocol = new NativeProtocol();
const ask: ChatRequest = { messages: [{ role: 'user', content: 'Hello' }] };
const registry = createModelRegistry();
let llm: FakeLlm;
let model: ChatModel;
let claude: ChatModel;
let responses: ChatModel;

beforeAll(async () => {
  llm = await FakeLlm.start();
  model = registry.create({ provider: 'openai-compatible', model: 'asked', baseUrl: llm.url, timeoutMs: 20_000 });
  responses = registry.create({ provider: 'openai', model: 'asked', apiKey: 'k', baseUrl: llm.url, timeoutMs: 20_000 });
  claude = registry.create({ provider: 'anthropic', model: 'asked', apiKey: 'k', baseUrl: llm.url, timeoutMs: 20_000 });
});
beforeEach(() => llm.reset());
afterAll(async () => {
  await registry.close();
  await llm.close();
});

/** The parts of a reply that the loop uses. */
function read(result: ChatResult) {
  const { text, thought, calls } = protocol.decode(result);
  const parsed = calls.map((call) => ({ ...call, arguments: JSON.parse(call.arguments) as unknown }));
  return { text, thought, calls: parsed, usage: result.usage, finish: result.finishReason, model: result.model };
}

/** The decoded reply. @param idOf the id of the call at a place */
function expected(
  { text, reasoning, calls, usage }: LogicalReply,
  form: { readonly usage: string },
  idOf: (at: number) => string,
) {
  const [promptTokens, completionTokens] = usage;
  const counts = { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
  return {
    text,
    thought: reasoning,
    calls: calls.map(({ name, arguments: args }, at) => ({ id: idOf(at), name, arguments: args })),
    usage: form.usage === 'absent' ? undefined : counts,
    finish: calls.length > 0 ? 'tool_calls' : 'stop',
    model: 'm-1',
  };
}

/** The decoded reply of a stream, and the text that a user has seen. */
async function readReply(from: ChatModel) {
  const parts = await readStream(from.stream(ask));
  const last = parts.at(-1)!;
  const visible = protocol.decodeStream();
  const shown = parts.map((part) => (part.type === 'text' ? visible.push(part.text) : ''));
  return { result: last.type === 'finish' && read(last.result), shown: shown.join('') + visible.end() };
}

describe('a reply of an OpenAI-compatible provider', () => {
  it('decodes to the same turn and usage in every form, without streaming', async () => {
    await assert(
      asyncProperty(logicalReply, openAiVariant, async (reply, form) => {
        llm.reply({ chunks: toOpenAiBody(reply, form), type: 'application/json' });
        expect(read(await model.generate(ask))).toEqual(expected(reply, form, (at) => expectedId(form, 0, at)));
      }),
      { numRuns },
    );
  });

  it('decodes to the same turn, usage and visible text in every form of a stream', async () => {
    await assert(
      asyncProperty(logicalReply, openAiVariant, async (reply, form) => {
        llm.reply({ chunks: toOpenAiStream(reply, form), type: 'text/event-stream' });
        const { result, shown } = await readReply(model);
        expect(result).toEqual(expected(reply, form, (at) => expectedId(form, 0, at)));
        expect(shown).toBe(reply.text);
      }),
      { numRuns },
    );
  });
});

describe('a reply of the Responses API', () => {
  const idOf = (at: number) => `call_${at}`;

  it('decodes to the same turn and usage in every form, without streaming', async () => {
    await assert(
      asyncProperty(logicalReply, responsesVariant, async (reply, form) => {
        llm.reply({ chunks: toResponsesBody(reply, form), type: 'application/json' });
        expect(read(await responses.generate(ask))).toEqual(expected(reply, form, idOf));
      }),
      { numRuns },
    );
  });

  it('decodes to the same turn, usage and visible text in every form of a stream', async () => {
    await assert(
      asyncProperty(logicalReply, responsesVariant, async (reply, form) => {
        llm.reply({ chunks: toResponsesStream(reply, form), type: 'text/event-stream' });
        const { result, shown } = await readReply(responses);
        expect(result).toEqual(expected(reply, form, idOf));
        expect(shown).toBe(reply.text);
      }),
      { numRuns },
    );
  });
});

describe('a reply of the Messages API', () => {
  const idOf = (at: number) => `toolu_${at}`;

  it('decodes to the same turn and usage in every form, without streaming', async () => {
    await assert(
      asyncProperty(logicalReply, anthropicVariant, async (reply, form) => {
        llm.reply({ chunks: toAnthropicBody(reply, form), type: 'application/json' });
        expect(read(await claude.generate(ask))).toEqual(expected(reply, form, idOf));
      }),
      { numRuns },
    );
  });

  it('decodes to the same turn, usage and visible text in every form of a stream', async () => {
    await assert(
      asyncProperty(logicalReply, anthropicVariant, async (reply, form) => {
        llm.reply({ chunks: toAnthropicStream(reply, form), type: 'text/event-stream' });
        const { result, shown } = await readReply(claude);
        expect(result).toEqual(expected(reply, form, idOf));
        expect(shown).toBe(reply.text);
      }),
      { numRuns },
    );
  });
});

describe('an error in a stream of an OpenAI-compatible provider', () => {
  it('reports its message and its status in every form, after the same text', async () => {
    await assert(
      asyncProperty(constantFrom(...STREAM_ERRORS), openAiVariant, async ({ event, message, code }, form) => {
        llm.reply({ chunks: toFailedStream('half of it', event, form), type: 'text/event-stream' });
        const shown: string[] = [];
        const reading = (async () => {
          for await (const part of model.stream(ask)) if (part.type === 'text') shown.push(part.text);
        })();
        const isRetryable = code !== 'MODEL_REFUSED';
        await expect(reading).rejects.toMatchObject({ code, isRetryable, message: expect.stringContaining(message) });
        expect(shown.join('')).toBe('half of it');
      }),
      { numRuns },
    );
  });
});
