import { expect, it } from 'vitest';
import type { Message } from '../../llm/chat/index.js';
import { toSentMessages } from './native.protocol.js';

const calling = (content: string, ...calls: (readonly [string, string])[]): Message => ({
  role: 'assistant',
  content,
  toolCalls: calls.map(([id, name]) => ({ id, name, arguments: '{}' })),
});
const result = (toolCallId: string): Message => ({ role: 'tool', toolCallId, name: 'add', content: toolCallId });
const idsOf = (messages: readonly Message[]) =>
  messages.map((message) => {
    if (message.role === 'tool') return message.toolCallId;
    return message.role === 'assistant' ? message.toolCalls?.map(({ id }) => id) : null;
  });

it('toSentMessages returns valid messages unchanged', () => {
  const messages = [calling('I add.', ['a', 'add'], ['b', 'add']), result('b'), result('a')];
  expect(toSentMessages(messages)).toEqual(messages);
  expect(toSentMessages(messages)[0]).toBe(messages[0]);
});

it('toSentMessages gives calls unique ids in the conversation, and their results the same ids', () => {
  const messages = [
    calling('', ['a', 'add']),
    result('a'),
    calling('', ['a', 'add'], ['a_2', 'add'], ['a', 'add']),
    result('a'),
    result('a'),
    result('a_2'),
    calling('', ['b', 'add']),
    result('b'),
  ];
  const thrice = ['a_2', 'a_2_2', 'a_3'];
  expect(idsOf(toSentMessages(messages))).toEqual([['a'], 'a', thrice, 'a_2', 'a_3', 'a_2_2', ['b'], 'b']);
});

it('toSentMessages replaces invalid names and blank content', () => {
  expect(toSentMessages([calling(' \n', ['a', 'multi_tool_use.parallel'], ['b', 'x'.repeat(99)])])).toEqual([
    calling('', ['a', 'multi_tool_use_parallel'], ['b', 'x'.repeat(64)]),
  ]);
});

it('toSentMessages shortens ids that a provider would refuse, and makes them unique', () => {
  const [one, two] = [`${'x'.repeat(50)}1`, `${'x'.repeat(50)}2`];
  const messages = [calling('', [one, 'add'], [two, 'add'], ['a.b:c', 'add'], ['', 'add']), result(two), result(one)];
  const short = 'x'.repeat(32);
  expect(idsOf(toSentMessages(messages))).toEqual([[short, `${short}_2`, 'a_b_c', 'call'], `${short}_2`, short]);
});
