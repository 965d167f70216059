import { describe, expect, it } from 'vitest';
import type { Message, ToolCall } from '../../chat/message.types.js';
import { calledTools, toWireConversation } from './message.mapper.js';

const MODEL = 'claude-haiku-5-5';
const write = (...messages: Message[]) => toWireConversation(messages, MODEL);
const user = (content: string): Message => ({ role: 'user', content });
const says = (content: string, ...toolCalls: ToolCall[]): Message => ({
  role: 'assistant',
  content,
  ...(toolCalls.length > 0 && { toolCalls }),
});
const call = (id: string, args = '{}', name = 'add'): ToolCall => ({ id, name, arguments: args });
const result = (toolCallId: string, content: string): Message => ({ role: 'tool', toolCallId, name: 'add', content });
const text = (value: string) => ({ type: 'text', text: value });

describe('toWireConversation', () => {
  it('separates the system texts', () => {
    const { system, messages } = write({ role: 'system', content: 'a' }, user('x'), { role: 'system', content: 'b' });
    expect(system).toBe('a\n\nb');
    expect(messages).toEqual([{ role: 'user', content: [text('x')] }]);
  });

  it('puts the images of a tool into its result', () => {
    const images = [
      { type: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' },
      { type: 'image', url: 'https://a.example/b.png' },
    ] as const;
    const shows: Message = { role: 'tool', toolCallId: 'c1', name: 'add', content: 'two', images };
    const { messages } = write(user('x'), says('', call('c1')), shows, user('and?'));
    expect(messages[2]?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'c1',
        content: [
          text('two'),
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
          { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } },
        ],
      },
      text('and?'),
    ]);
    const blank = write(user('x'), says('', call('c1')), { ...shows, content: ' ', images: images.slice(1) });
    expect(blank.messages[2]?.content[0]?.['content']).toHaveLength(1);
  });

  it('joins consecutive messages of one role into a turn, results first', () => {
    const { messages } = write(
      user('x'),
      says('', call('c1'), call('c2')),
      result('c1', '1'),
      result('c2', ''),
      user('and?'),
    );
    expect(messages).toEqual([
      { role: 'user', content: [text('x')] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'c1', name: 'add', input: {} },
          { type: 'tool_use', id: 'c2', name: 'add', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: '1' },
          { type: 'tool_result', tool_use_id: 'c2', content: '' },
          text('and?'),
        ],
      },
    ]);
    expect(write(user('a'), says('b'), says('c'), user('d')).messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ]);
  });

  it('omits blank texts, and messages without other content', () => {
    expect(write(user('x'), says(' \n'), user('y')).messages).toEqual([
      { role: 'user', content: [text('x'), text('y')] },
    ]);
  });

  it('gives calls unique valid ids, and results the ids of their calls', () => {
    const { messages } = write(
      user('x'),
      says('', call('functions.add:0')),
      result('functions.add:0', '1'),
      says('', call('functions.add:0'), call('functions/add:0')),
      result('functions/add:0', '3'),
      result('functions.add:0', '2'),
    );
    const blocks = messages.flatMap(({ content }) => content);
    expect(blocks.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []))).toEqual([
      'functions_add_0',
      'functions_add_0_2',
      'functions_add_0_3',
    ]);
    expect(
      blocks.flatMap((block) => (block.type === 'tool_result' ? [[block['tool_use_id'], block['content']]] : [])),
    ).toEqual([
      ['functions_add_0', '1'],
      ['functions_add_0_3', '3'],
      ['functions_add_0_2', '2'],
    ]);
  });

  it('makes every input an object', () => {
    const { messages } = write(user('x'), says('', call('c', '{"n": 1'), call('d', '[1]'), call('e', '{"n":1}')));
    expect(messages[1]?.content).toEqual([
      { type: 'tool_use', id: 'c', name: 'add', input: { arguments: '{"n": 1' } },
      { type: 'tool_use', id: 'd', name: 'add', input: { arguments: '[1]' } },
      { type: 'tool_use', id: 'e', name: 'add', input: { n: 1 } },
    ]);
    expect(calledTools([says('', call('c', '', 'a'), call('d', '', 'a')), says('', call('e', '', 'b'))])).toEqual([
      'a',
      'b',
    ]);
  });

  describe('signed reasoning', () => {
    const value = (thinking: string) => ({ type: 'thinking', thinking, signature: 's' });
    const thinking = (model: string, provider = 'anthropic'): Message => ({
      role: 'assistant',
      content: 'onetwo',
      reasoning: 'ab',
      signedReasoning: {
        provider,
        model,
        blocks: [
          { value: value('a'), text: 0, calls: 0 },
          { value: value('b'), text: 3, calls: 0 },
        ],
      },
      toolCalls: [call('c')],
    });

    it('goes back unchanged, at its original positions', () => {
      expect(write(thinking(MODEL)).messages[0]?.content).toEqual([
        value('a'),
        text('one'),
        value('b'),
        text('two'),
        { type: 'tool_use', id: 'c', name: 'add', input: {} },
      ]);
    });

    it('goes to no other model, and not without its calls', () => {
      const plain = [text('onetwo'), { type: 'tool_use', id: 'c', name: 'add', input: {} }];
      expect(write(thinking('claude-opus-5')).messages[0]?.content).toEqual(plain);
      expect(write(thinking(MODEL, 'other')).messages[0]?.content).toEqual(plain);
      const { toolCalls: _calls, ...said } = thinking(MODEL) as Extract<Message, { role: 'assistant' }>;
      expect(write(said).messages[0]?.content).toEqual([text('onetwo')]);
    });
  });
});
