import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readStream } from '../../../test/support/fake-llm-stream.js';
import { FakeLlm } from '../../../test/support/fake-llm.js';
import type { ChatResult, ChatRequest } from '../chat/chat.types.js';
import { createModelRegistry } from '../model-registry.factory.js';

interface Expected {
  readonly content: string;
  readonly finishReason: string;
  readonly usage: readonly [number, number, number];
  readonly model: string;
  readonly reasoning?: string;
  readonly signedReasoning?: object;
  readonly calls?: readonly (readonly [string, object])[];
}

/** Documented replies of a provider, complete and streamed. */
interface Example {
  readonly reply: unknown;
  readonly stream: readonly unknown[];
  readonly expected: Expected;
}

type WireData = { readonly source: string; readonly model: string } & Readonly<Record<'text' | 'calls', Example>>;

/** The fixtures; those of the same provider are of two APIs. */
const WIRES = ['openai', 'openai-responses', 'azure', 'anthropic', 'deepseek', 'glm', 'ollama'];
const ask: ChatRequest = {
  messages: [{ role: 'user', content: 'Hello' }],
  tools: ['get_weather', 'get_time'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
};

const registry = createModelRegistry();
let llm: FakeLlm;
beforeAll(async () => void (llm = await FakeLlm.start()));
beforeEach(() => llm.reset());
afterAll(async () => {
  await registry.close();
  await llm.close();
});

/** Converts a result to the form of the fixtures. */
function toPlain({ message, finishReason, usage, model }: ChatResult): Expected {
  const { content, reasoning, signedReasoning, toolCalls } = message;
  return {
    content,
    finishReason,
    usage: [usage!.promptTokens, usage!.completionTokens, usage!.totalTokens],
    model,
    ...(reasoning !== undefined && { reasoning }),
    ...(signedReasoning && { signedReasoning }),
    ...(toolCalls && { calls: toolCalls.map((call) => [call.name, JSON.parse(call.arguments) as object] as const) }),
  };
}

describe.each(WIRES)('a reply of %s', (wire) => {
  const data = JSON.parse(readFileSync(`test/fixtures/wire/${wire}.json`, 'utf8')) as WireData;
  const isResponses = wire === 'openai-responses';
  const provider = isResponses ? 'openai' : wire;
  const openAiApi = isResponses ? 'auto' : 'chat';
  const make = () =>
    registry.create({ provider, model: data.model, apiKey: 'k', baseUrl: llm.url, openAiApi, timeoutMs: 60_000 });

  it.each(['text', 'calls'] as const)('is parsed without streaming: %s', async (kind) => {
    llm.reply({ status: 200, body: data[kind].reply });
    expect(toPlain(await make().generate(ask))).toEqual(data[kind].expected);
  });

  it.each(['text', 'calls'] as const)('is parsed as a stream: %s', async (kind) => {
    const { stream, expected } = data[kind];
    llm.reply({ events: stream });
    const parts = await readStream(make().stream(ask));
    const last = parts.at(-1);
    expect(last?.type === 'finish' && toPlain(last.result)).toEqual(expected);
    const said = (type: string) =>
      parts.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');
    expect([said('text'), said('reasoning')]).toEqual([expected.content, expected.reasoning ?? '']);
  });

  it('is never accepted as a truncated stream', async () => {
    const { stream } = data.calls;
    const end = isResponses ? /"response\.completed"/ : /"(finish|stop)_reason":"/;
    const ends = stream.findIndex((event) => end.test(JSON.stringify(event)));
    for (let cutAfter = 0; cutAfter <= ends; cutAfter++) {
      llm.reply({ events: stream, cutAfter });
      await expect(readStream(make().stream(ask))).rejects.toMatchObject({
        code: 'MODEL_BAD_REPLY',
        isRetryable: true,
      });
    }
  });

  it('goes back with the results of its calls, in the wire format of the provider', async () => {
    llm.reply({ status: 200, body: data.calls.reply }).reply({ status: 200, body: data.text.reply });
    const { message } = await make().generate(ask);
    const results = message.toolCalls!.map(({ id, name }) => ({
      role: 'tool' as const,
      toolCallId: id,
      name,
      content: `${name} done`,
    }));
    await make().generate({ ...ask, messages: [...ask.messages, message, ...results] });
    const { input } = llm.envelopes.at(-1)!.body;
    const sent = JSON.stringify(input ?? llm.lastRequest.messages);
    for (const { id, name } of message.toolCalls!) {
      expect(sent.split(`"${id}"`)).toHaveLength(3);
      expect(sent).toContain(`${name} done`);
    }
    const wantsThoughts = ['anthropic', 'deepseek', 'openai-responses'].includes(wire);
    expect(sent.includes(message.reasoning ?? 'never')).toBe(wantsThoughts);
  });
});
