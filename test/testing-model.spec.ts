import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ChatRequest } from '../src/llm/chat/index.js';
import { Tool } from '../src/tool/method/index.js';
import { toStatusError } from '../src/llm/wire/status-error.mapper.js';
import { StatusError } from '../src/llm/wire/wire-failure.error.js';
import { createTestAgent, FakeProvider, ScriptedModel, type ScriptLine } from '../src/testing/index.js';
import { readStream } from './support/fake-llm-stream.js';

const ask = (content: string, system = 'You are desk.'): ChatRequest => ({
  messages: [
    { role: 'system', content: system },
    { role: 'user', content },
  ],
  tools: [{ name: 'pay', description: 'Pays.', inputSchema: {} }],
});

async function textOf(model: ScriptedModel, request: ChatRequest): Promise<string> {
  return (await model.generate(request)).message.content;
}

describe('the scripted model', () => {
  it('answers in order, and by the text, the instructions, the tools or a function', async () => {
    const model = new ScriptedModel([
      { when: 'refund', reply: 'by text' },
      { when: { instructions: /clerk/ }, reply: 'by instructions' },
      { when: { tool: 'ship' }, reply: 'by tool' },
      { when: ({ messages }) => messages.length === 1, reply: 'by a function' },
      'in order',
      { reply: 'always', times: 'any' },
    ]);
    const ship = { ...ask('Hi'), tools: [{ name: 'ship', description: '', inputSchema: {} }] };
    const short = { messages: [{ role: 'user' as const, content: 'Hi' }] };
    const requests = [ask('Hi'), ask('A refund, please'), ask('Hi', 'You are clerk.'), ship, short, ask('x'), ask('y')];
    const texts: string[] = [];
    for (const request of requests) texts.push(await textOf(model, request));
    expect(texts).toEqual(['in order', 'by text', 'by instructions', 'by tool', 'by a function', 'always', 'always']);
    expect(model.requests).toEqual(requests);
    model.assertDone();
  });

  it('streams the pieces, the reasoning and the calls', async () => {
    const model = new ScriptedModel([
      { reasoning: 'Hm.', pieces: ['It ', 'rains'], calls: [{ name: 'pay' }], usage: [1, 2] },
    ]);
    expect(await readStream(model.stream(ask('Hi')))).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'It ' },
      { type: 'text', text: 'rains' },
      {
        type: 'finish',
        result: {
          message: {
            role: 'assistant',
            content: 'It rains',
            reasoning: 'Hm.',
            toolCalls: [{ id: 'call_0', name: 'pay', arguments: '{}' }],
          },
          finishReason: 'tool_calls',
          usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
          model: 'scripted-1',
        },
      },
    ]);
  });

  it('computes replies', async () => {
    const model = new ScriptedModel([({ messages }) => `${messages.length} messages`]);
    expect(await textOf(model, ask('Hi'))).toBe('2 messages');
  });

  it.each([400, 401, 403, 404, 408, 422, 429, 500, 503, 529])(
    'fails with HTTP %i as a provider does',
    async (status) => {
      const real = toStatusError(new StatusError(status, ''), {
        provider: 'x',
        model: 'm',
        baseUrl: 'http://localhost/v1',
      } as never);
      const failing = new ScriptedModel([{ fault: status }]).generate(ask('Hi'));
      await expect(failing).rejects.toMatchObject({ code: real.code, isRetryable: real.isRetryable });
    },
  );

  it.each([
    ['timeout', 'MODEL_TIMEOUT'],
    ['unreachable', 'MODEL_UNREACHABLE'],
    ['cut', 'MODEL_BAD_REPLY'],
  ] as const)('fails with %s, a stream after its text', async (fault, code) => {
    const parts: unknown[] = [];
    const read = async () => {
      for await (const part of new ScriptedModel([{ text: 'It', fault }]).stream(ask('Hi'))) parts.push(part);
    };
    await expect(read()).rejects.toMatchObject({ code, isRetryable: true });
    expect(parts).toEqual([{ type: 'text', text: 'It' }]);
  });

  it('reports an unexpected request with its parts, and the differences to the unused lines', async () => {
    const model = new ScriptedModel([
      { when: { text: /refund/, tool: 'ship' }, reply: 'ok' },
      { when: 'x', reply: 'y' },
    ]);
    const unexpected = await model.generate(ask('Hi\nthere')).catch((error: Error) => error.message);
    expect(unexpected).toBe(
      [
        'Model request 1 is unexpected: no line of the script matches.',
        '  request',
        '    system       You are desk.',
        '    user         Hi⏎there',
        '    tools        pay',
        '  unused lines: - expected, + received',
        '    line 1',
        '      - text: /refund/',
        '      + text: "Hi\\nthere"',
        '      - tool: ship',
        '      + tool: pay',
        '    line 2',
        '      - text: "x"',
        '      + text: "Hi\\nthere"',
      ].join('\n'),
    );
    expect(() => model.assertDone()).toThrow(unexpected);
  });

  it.each<[string, ScriptLine, string]>([
    ['a text', 'Hello', '"Hello"'],
    ['calls', { calls: [{ name: 'pay', arguments: { amount: 5 } }] }, 'pay({"amount":5})'],
    ['a fault', { fault: 'timeout' }, 'fault timeout'],
    ['a function', () => 'x', 'a function'],
    ['an error', new Error('down'), 'Error: down'],
  ])('reports an unused line: %s', (_name, line, shown) => {
    const model = new ScriptedModel([line]);
    expect(() => model.assertDone()).toThrow(
      `1 of the script's lines had no request: - expected, + received.\n  - line 1: ${shown}\n  + no request`,
    );
  });
});

describe('the fake provider', () => {
  class Calculator {
    @Tool({ description: 'Adds.', effect: 'read', input: z.object({ a: z.number(), b: z.number() }) })
    add({ a, b }: { a: number; b: number }): number {
      return a + b;
    }
  }

  let provider: FakeProvider;
  afterEach(() => provider.close());

  it.each([
    ['openai', 'gpt-5.6-luna', '/v1/responses'],
    ['deepseek', 'deepseek-chat', '/v1/chat/completions'],
    ['anthropic', 'claude-sonnet-4-5', '/v1/messages'],
  ])('serves the wire of %s', async (name, model, path) => {
    provider = await FakeProvider.start();
    provider.reply({ calls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'It is 3.' });
    const agent = await createTestAgent({
      provider,
      tools: [Calculator],
      model: { name: model },
      config: provider.envOf(name),
    });
    expect((await agent.chat('1 + 2?')).content).toBe('It is 3.');
    await agent.close();
    expect(provider.envelopes.map(({ path: at }) => at)).toEqual([path, path]);
    expect(JSON.stringify(provider.lastRequest.messages.at(-1))).toContain('"3"');
    provider.assertDone();
  });

  it('fails if its script does not fit the requests', async () => {
    provider = await FakeProvider.start();
    provider.reply({ text: 'one' });
    expect(() => provider.assertDone()).toThrow('received 0 requests; its script has replies for 1');
  });
});
