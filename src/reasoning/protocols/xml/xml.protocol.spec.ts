import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import type { ChatResult, FinishReason, Message, ToolCall } from '../../../llm/chat/index.js';
import type { Tool } from '../../../tool/method/index.js';
import { wildMarkup as wild } from '../../../../test/support/wild-markup.js';
import { XmlProtocol } from './xml.protocol.js';

interface RecordedReply {
  readonly name: string;
  readonly reply: string;
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[];
  readonly text: string;
}

const STRING = { type: 'string' };
const TOOLS = [
  toTool('calculator', 'Evaluates an expression.', { expression: STRING }, ['expression']),
  toTool('weather', 'The weather of a city.', { city: STRING, unit: STRING }, ['city']),
  toTool('search', 'Searches the web.', { query: STRING }, ['query']),
  toTool('noop', 'Does nothing.', {}, []),
  toTool('book', 'Books a hotel.', { city: STRING, nights: { type: 'integer' }, options: { type: 'object' } }, [
    'city',
  ]),
];
const protocol = new XmlProtocol();
const RECORDED = JSON.parse(
  readFileSync(new URL('../../../../test/fixtures/xml-replies.json', import.meta.url), 'utf8'),
) as readonly RecordedReply[];

function toTool(name: string, description: string, properties: object, required: readonly string[]): Tool {
  return {
    definition: { name, description, inputSchema: { type: 'object', properties, required } },
    metadata: { effect: 'read', source: 'spec', egress: false, untrusted: false },
    validate: (value) => ({ valid: true, value }),
    invoke: () => null,
  };
}

function toResult(content: string, finishReason: FinishReason = 'stop'): ChatResult {
  return { message: { role: 'assistant', content }, finishReason, model: 'm' };
}

function decode(content: string, finishReason?: FinishReason) {
  return protocol.decode(toResult(content, finishReason), { tools: TOOLS, iteration: 3 });
}

function callsOf(content: string) {
  return decode(content).calls.map((call) => ({ name: call.name, arguments: JSON.parse(call.arguments) as unknown }));
}

function streamed(pieces: readonly string[]): string {
  const stream = protocol.decodeStream();
  return pieces.map((piece) => stream.push(piece)).join('') + stream.end();
}

function encoded(messages: readonly Message[], instructions = ''): readonly Message[] {
  const request = protocol.encode({ instructions, messages, tools: TOOLS });
  expect(request.tools).toBeUndefined();
  return request.messages;
}

function contentOf(message: Message | undefined): string {
  expect(typeof message?.content).toBe('string');
  return message?.content as string;
}

const value = fc.oneof(
  wild,
  fc.jsonValue({ maxDepth: 3 }),
  fc.dictionary(fc.string({ maxLength: 4 }), wild, { maxKeys: 3 }),
  fc.array(wild, { maxLength: 3 }),
);
const call = fc.record({
  name: fc.constantFrom(...TOOLS.map(({ definition }) => definition.name), 'unknown', 'other-tool_2'),
  arguments: fc
    .dictionary(
      fc.oneof(
        fc.constantFrom('expression', 'city', 'unit', 'nights', 'options', '', 'constructor'),
        fc.string(),
        wild,
      ),
      value,
      { maxKeys: 4 },
    )
    .map((one) => JSON.stringify(one))
    .filter((text) => !text.includes('__proto__')),
});

describe('XmlProtocol.encode', () => {
  it('writes calls that decode to the same calls, for any arguments', () => {
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 4 }), wild, (calls, content) => {
        const toolCalls: ToolCall[] = calls.map((one, index) => ({ id: `call_3_${index + 1}`, ...one }));
        const [message] = encoded([{ role: 'assistant', content, toolCalls }]);
        const back = decode(contentOf(message));
        expect(back.calls.map(({ id }) => id)).toEqual(toolCalls.map(({ id }) => id));
        expect(callsOf(contentOf(message))).toEqual(
          calls.map((one) => ({ name: one.name, arguments: JSON.parse(one.arguments) as unknown })),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it('never lets text of users and tools be read as calls', () => {
    fc.assert(
      fc.property(wild, wild, (text, result) => {
        const messages: Message[] = [
          { role: 'user', content: text },
          { role: 'assistant', content: '', toolCalls: [{ id: '1', name: 'noop', arguments: '{}' }] },
          { role: 'tool', toolCallId: '1', name: 'noop', content: result },
          { role: 'user', content: text.split('').map((part) => ({ type: 'text' as const, text: part })) },
        ];
        const copy = structuredClone(messages);
        const [user, , results, parts] = encoded(messages);
        expect(messages).toEqual(copy);
        expect(decode(contentOf(user))).toMatchObject({ calls: [], text: contentOf(user) });
        expect(contentOf(results).split('</result>')).toHaveLength(2);
        const inside = contentOf(results).slice('<function_results>\n<result tool="noop">'.length, -30);
        expect(decode(inside)).toMatchObject({ calls: [] });
        const joined = Array.isArray(parts?.content) ? text : contentOf(parts);
        expect(decode(joined).calls).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('writes calls into the assistant message and all results into one user message', () => {
    const toolCalls = [
      { id: 'a', name: 'book', arguments: '{"city":"<Rome> & co","nights":2,"options":{"sea":true}}' },
      { id: 'b', name: 'noop', arguments: '' },
    ];
    const written = encoded(
      [
        { role: 'user', content: 'Is 1 < 2? <b>' },
        { role: 'assistant', content: 'I book.', reasoning: 'hm', toolCalls },
        { role: 'tool', toolCallId: 'a', name: 'book', content: '{"ok":true}' },
        { role: 'tool', toolCallId: 'b', name: 'noop', content: 'done </result>' },
        { role: 'assistant', content: 'Booked.' },
      ],
      'Be brief.',
    );
    expect(written).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Is 1 < 2? <b>' },
      {
        role: 'assistant',
        content: `I book.

<function_calls>
<invoke name="book">
<parameter name="city">&lt;Rome&gt; &amp; co</parameter>
<parameter name="nights">2</parameter>
<parameter name="options">{"sea":true}</parameter>
</invoke>
<invoke name="noop">
</invoke>
</function_calls>`,
      },
      {
        role: 'user',
        content: `<function_results>
<result tool="book">{"ok":true}</result>
<result tool="noop">done &lt;/result></result>
</function_results>`,
      },
      { role: 'assistant', content: 'Booked.' },
    ]);
  });

  it('describes the tools and the format', () => {
    const text = protocol.describeTools(TOOLS);
    expect(text).toContain('- calculator: Evaluates an expression.\n  - expression (string, required)\n');
    expect(text).toContain('<function_calls>\n<invoke name="tool_name">\n<parameter name="argument_name">');
  });
});

describe('XmlProtocol.decode', () => {
  it('has at least 200 recorded replies with different names', () => {
    expect(new Set(RECORDED.map(({ name }) => name)).size).toBe(RECORDED.length);
    expect(RECORDED.length).toBeGreaterThanOrEqual(200);
  });

  it('retains the thoughts of the model, beside its text and at the start of it', () => {
    const content = '<think>\n1 + 1\n</think>\n<THINKING>is\n2</Thinking> It is 2.';
    expect(
      protocol.decode(
        { ...toResult(content), message: { role: 'assistant', content, reasoning: 'Easy.' } },
        { tools: TOOLS, iteration: 1 },
      ),
    ).toMatchObject({ thought: 'Easy.\n1 + 1\nis\n2', text: 'It is 2.', calls: [] });
    expect(decode('<think>I wonder about </thin')).toMatchObject({ thought: 'I wonder about </thin', text: '' });
  });

  it.each(RECORDED)('reads: $name', ({ reply, calls, text }) => {
    expect({ calls: callsOf(reply), text: decode(reply).text }).toEqual({ calls, text });
    expect(streamed(reply.split(''))).toBe(text);
  });

  it('executes no call of a cut reply and shows no markup of it', () => {
    const reply =
      'I look.\n<function_calls>\n<invoke name="search">\n<parameter name="query">x</parameter>\n</invoke>\n</function_calls>';
    for (let end = 'I look.\n<fun'.length; end <= reply.length; end++) {
      expect(decode(reply.slice(0, end), 'length')).toMatchObject({ calls: [], text: 'I look.' });
      expect(decode(reply.slice(0, end), 'content_filter')).toMatchObject({ calls: [], text: 'I look.' });
    }
  });

  it('retains every byte of a string between the tags', () => {
    const query = '  <a href="x">1 && 2</a>\n\tif (a < b) {}  ';
    const reply = `<function_calls><invoke name="search"><parameter name="query">\n${query}\n</parameter></invoke></function_calls>`;
    expect(callsOf(reply)).toEqual([{ name: 'search', arguments: { query } }]);
  });
});
