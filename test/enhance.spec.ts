import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { readFileSync } from 'node:fs';
import { enhance, type ChatModel, type ChatRequest, type ToolRegistration } from '../src/index.js';
import { createModelRegistry } from '../src/llm/model-registry.factory.js';
import { ask, modelOf, textsOf, CALL_METHODS } from './support/enhanced-calls.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeMessage } from './support/fake-llm.types.js';
import { forecast } from './support/forecast.js';
import { gate } from './support/jackdaw.js';
import { WRITERS } from './support/protocol-writer.js';

Logger.overrideLogger(false);

/** Protocol markup that must not reach a reader. */
const MARKUP = /Action|Observation|Thought:|Final Answer|<\/?(?:function_calls|invoke|parameter|function_results)/;

const NUMBER = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
const double: ToolRegistration = {
  name: 'double',
  description: 'Doubles.',
  effect: 'read',
  parameters: NUMBER,
  handler: ({ n }: { n: number }) => n * 2,
};
const broken: ToolRegistration = {
  name: 'broken',
  description: 'Fails.',
  effect: 'read',
  handler: () => {
    throw new Error('the pipe burst');
  },
};

let llm: FakeLlm;
const registry = createModelRegistry();
beforeAll(async () => void (llm = await FakeLlm.start()));
afterEach(() => llm.reset());
afterAll(async () => {
  await registry.close();
  await llm.close();
});

function said(message: FakeMessage, before: string): FakeMessage {
  return { ...message, text: [before, message.text ?? ''].join('\n\n') };
}

const { react: _react, ...SEED } = WRITERS;
const TABLE = Object.entries(SEED).flatMap(([protocol, writer]) =>
  CALL_METHODS.map((method) => ({ protocol, writer, method })),
);

describe.each(TABLE)('an enhanced model that speaks $protocol, asked by $method', ({ protocol, writer, method }) => {
  const enhanced = (tools: readonly ToolRegistration[] = [double, broken]): ChatModel =>
    enhance(modelOf(registry, llm, protocol === 'native'), tools);

  it('calls a tool and answers from its result, with the usage of both replies', async () => {
    llm.reply({ ...writer.calls({ name: 'double', arguments: { n: 21 } }), usage: [10, 5] });
    llm.reply({ ...writer.answer('It is 42.'), usage: [20, 7] });
    const { result } = await ask(enhanced(), method, 'double 21');
    expect(result).toEqual({
      message: { role: 'assistant', content: 'It is 42.' },
      finishReason: 'stop',
      usage: { promptTokens: 30, completionTokens: 12, totalTokens: 42 },
      model: expect.any(String),
    });
    expect(llm.requests).toHaveLength(2);
    expect(llm.requests.map(({ stream = false }) => stream)).toEqual([method === 'stream', method === 'stream']);
    expect(JSON.stringify(llm.lastRequest.messages)).toContain('42');
  });

  it('executes the calls of one reply concurrently and returns their results in order', async () => {
    const arrived = [gate(), gate()];
    const meet: ToolRegistration = {
      ...double,
      name: 'meet',
      handler: async ({ n }: { n: number }) => {
        arrived[n]!.open();
        await arrived[1 - n]!.opened;
        return `met ${n}`;
      },
    };
    llm.reply(writer.calls({ name: 'meet', arguments: { n: 0 } }, { name: 'meet', arguments: { n: 1 } }));
    llm.reply(writer.answer('Both met.'));
    const { result } = await ask(enhanced([meet]), method, 'meet');
    expect(result.message.content).toBe('Both met.');
    expect(JSON.stringify(llm.lastRequest.messages)).toMatch(/met 0.*met 1/);
  });

  it('sends errors to the model and continues', async () => {
    llm.reply(writer.calls({ name: 'treble', arguments: { n: 1 } }));
    llm.reply(writer.calls({ name: 'double', arguments: { n: 'many' } }));
    llm.reply(writer.calls({ name: 'broken', arguments: {} }), writer.answer('I could not.'));
    const { result } = await ask(enhanced(), method, 'go wrong');
    expect(result.message.content).toBe('I could not.');
    const seen = JSON.stringify(llm.lastRequest.messages);
    for (const shown of ['Error: Unknown tool', 'must be integer', 'Error: the pipe burst'])
      expect(seen).toContain(shown);
  });

  it('emits the text of each reply as it arrives, without the protocol', async () => {
    llm.reply(said(writer.calls({ name: 'double', arguments: { n: 1 } }), 'Let me see.'));
    llm.reply(said(writer.calls({ name: 'double', arguments: { n: 2 } }), 'And again.'));
    llm.reply(writer.answer('It is 4.'));
    const { result, parts } = await ask(enhanced(), method, 'double 1 twice');
    expect(result.message.content).toBe('It is 4.');
    const expected = method === 'stream' ? ['Let me see.', 'And again.', 'It is 4.'] : [''];
    expect(textsOf(parts).map((text) => text.trim())).toEqual(expected);
    expect(JSON.stringify(parts)).not.toMatch(MARKUP);
  });

  it('passes on the history: system prompt, calls and results', async () => {
    const request: ChatRequest = {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'double 1' },
        { role: 'assistant', content: '', toolCalls: [{ id: 'call_1', name: 'double', arguments: '{"n":1}' }] },
        { role: 'tool', toolCallId: 'call_1', name: 'double', content: '2' },
        { role: 'assistant', content: 'Two.' },
        { role: 'user', content: 'And 2?' },
      ],
      parameters: { temperature: 0.5, maxTokens: 100 },
    };
    const copy = structuredClone(request);
    llm.reply(writer.answer('Four.'));
    await ask(enhanced(), method, request);
    expect(request).toEqual(copy);
    const { messages, temperature } = llm.lastRequest;
    expect(temperature).toBe(0.5);
    expect(messages.filter(({ role }) => role === 'system')).toHaveLength(1);
    expect(messages[0]!.content).toMatch(/^Be brief\./);
    expect(messages.at(-1)).toEqual({ role: 'user', content: 'And 2?' });
    expect(messages).toHaveLength(6);
  });

  it('stops at the round limit, reports it and makes no further call', async () => {
    let called = 0;
    const count: ToolRegistration = { ...double, handler: () => ++called };
    llm.always(said(writer.calls({ name: 'double', arguments: { n: 1 } }), 'Once more.'));
    const model = enhance(modelOf(registry, llm, protocol === 'native'), [count], { maxDepth: 2 });
    const { result, parts } = await ask(model, method, 'for ever');
    expect({ called, asked: llm.requests.length, finishReason: result.finishReason }).toEqual({
      called: 2,
      asked: 3,
      finishReason: 'length',
    });
    expect(result.message).toEqual({
      role: 'assistant',
      content: expect.stringContaining('the limit of 2 rounds of tool calls was reached'),
    });
    expect(textsOf(parts).at(-1)).toBe(method === 'stream' ? result.message.content : '');
  });

  it('has a default limit of five rounds and answers from the fifth result', async () => {
    for (let n = 1; n <= 5; n++) llm.reply(writer.calls({ name: 'double', arguments: { n } }));
    llm.reply(writer.answer('done'));
    expect(await ask(enhanced(), method, 'go')).toMatchObject({ result: { finishReason: 'stop' } });
    expect(llm.requests).toHaveLength(6);
  });

  it('separates two concurrent requests', async () => {
    const both = [gate(), gate()];
    const model = enhanced();
    llm.always(async ({ messages }) => {
      const text = JSON.stringify(messages);
      const n = text.includes('double 1 ') ? 1 : 2;
      if (/function_results|"tool"/.test(text)) return writer.answer(`${n} gives ${n * 2}`);
      both[n - 1]!.open();
      await both[2 - n]!.opened;
      return writer.calls({ name: 'double', arguments: { n } });
    });
    const asked = await Promise.all([1, 2].map((n) => ask(model, method, `double ${n} please`)));
    expect(asked.map(({ result }) => result.message.content)).toEqual(['1 gives 2', '2 gives 4']);
    expect(asked.map(({ parts }) => textsOf(parts).at(-1))).toEqual(
      method === 'stream' ? ['1 gives 2', '2 gives 4'] : ['', ''],
    );
  });
});

describe('docs/enhance.md', () => {
  it('has code that runs', async () => {
    llm.reply({ text: 'I look it up.', calls: [{ name: 'weather', arguments: { city: 'Oslo' } }] });
    llm.reply({ text: 'It is sunny.' });
    let written = '';
    const answer = await forecast(modelOf(registry, llm), 'Oslo?', (text) => void (written += text));
    expect({ answer, written }).toEqual({ answer: 'It is sunny.', written: 'I look it up.\nIt is sunny.' });
    expect(JSON.stringify(llm.lastRequest.messages)).toContain('Sunny in Oslo, 24 °C');
  });

  it('has the code of this test', () => {
    const code = readFileSync('test/support/forecast.ts', 'utf8').replaceAll('../../src/index.js', 'jackdaw');
    expect(readFileSync('docs/enhance.md', 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\`\n`);
  });
});
