import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../chat/chat.types.js';
import type { Message } from '../../chat/message.types.js';
import { OfflineModel } from './offline.model.js';

/** The request; the expected calls, as `tool {arguments}`; the results of the tools; the answer. */
type Row = readonly [request: string, calls: readonly Call[], results: readonly string[], answer: string];
type Call = readonly [tool: string, input: Readonly<Record<string, string | number>>];

const NOW = '2026-11-22T09:05:07';
const calc = (expression: string): Call => ['calculator', { expression }];
const time = (timezone?: string): Call => ['get_timestamp', timezone === undefined ? {} : { timezone }];
const text = (operation: string, given: string, more: Record<string, string | number> = {}): Call => [
  'string_tools',
  { operation, text: given, ...more },
];

const ARITHMETIC: readonly Row[] = [
  ['计算 100 + 200', [calc('100 + 200')], ['300'], '300'],
  ['three plus four', [calc('3 + 4')], ['7'], '7'],
  ['What is twenty-one times two?', [calc('21 * 2')], ['42'], '42'],
  ['一百加二十', [calc('100+20')], ['120'], '120'],
  ['12 乘以 3', [calc('12 * 3')], ['36'], '36'],
  ['三百五十减去一百二等于多少？', [calc('350-120')], ['230'], '230'],
  ['15% of 80', [calc('15% * 80')], ['12'], '12'],
  ['80 的 15%', [calc('80 * 15%')], ['12'], '12'],
  ['what is 2 to the power of 10', [calc('2^10')], ['1024'], '1024'],
  ['2 的 10 次方是多少', [calc('2^10')], ['1024'], '1024'],
  ['what is the square root of 144?', [calc('144^0.5')], ['12'], '12'],
  ['16 的平方根', [calc('16^0.5')], ['4'], '4'],
  ['2**8', [calc('2^8')], ['256'], '256'],
  ['5 squared', [calc('5^2')], ['25'], '25'],
  ['divide 10 by four', [calc('10 / 4')], ['2.5'], '2.5'],
  ['what is the remainder of 10 divided by 3?', [calc('10 % 3')], ['1'], '1'],
  ['10 除以 3 的余数是多少', [calc('10 % 3')], ['1'], '1'],
  ['the sum of 3 and 4', [calc('3 + 4')], ['7'], '7'],
  ['5 和 3 的和', [calc('5 + 3')], ['8'], '8'],
  ['计算 1+1 和 2*3', [calc('1+1'), calc('2*3')], ['2', '6'], '1+1 = 2, 2*3 = 6'],
  ['what is 2+2 and 5*5?', [calc('2+2'), calc('5*5')], ['4', '25'], '2+2 = 4, 5*5 = 25'],
  [
    '1/0 和 2+2',
    [calc('1/0'), calc('2+2')],
    ['Error: Division by zero.', '4'],
    '1/0: 调用工具 calculator 失败：Division by zero., 2+2 = 4',
  ],
];

const TIME: readonly Row[] = [
  ['what time is it', [time()], [`${NOW}Z`], 'UTC: 2026-11-22 09:05:07'],
  ['what time is it in Tokyo', [time('Asia/Tokyo')], [`${NOW}+09:00`], 'Tokyo: 2026-11-22 09:05:07 (UTC+09:00)'],
  ['北京现在几点', [time('Asia/Shanghai')], [`${NOW}+08:00`], '北京：2026-11-22 09:05:07（UTC+08:00）'],
  ['纽约时间', [time('America/New_York')], [`${NOW}-05:00`], '纽约：2026-11-22 09:05:07（UTC-05:00）'],
  [
    'current time in São Paulo',
    [time('America/Sao_Paulo')],
    [`${NOW}-03:00`],
    'Sao Paulo: 2026-11-22 09:05:07 (UTC-03:00)',
  ],
  ['time in UTC+2', [time('Etc/GMT-2')], [`${NOW}+02:00`], 'UTC+2: 2026-11-22 09:05:07 (UTC+02:00)'],
  ['time in UTC+5:30', [time('+05:30')], [`${NOW}+05:30`], 'UTC+5:30: 2026-11-22 09:05:07 (UTC+05:30)'],
  ['time in Europe/Oslo', [time('Europe/Oslo')], [`${NOW}+01:00`], 'Europe/Oslo: 2026-11-22 09:05:07 (UTC+01:00)'],
  [
    "What's the time in London and New York?",
    [time('Europe/London'), time('America/New_York')],
    [`${NOW}+00:00`, '2026-11-22T04:05:07-05:00'],
    'London: 2026-11-22 09:05:07 (UTC+00:00), New York: 2026-11-22 04:05:07 (UTC-05:00)',
  ],
  ["what is today's date?", [time()], [`${NOW}Z`], '2026-11-22 (Sunday)'],
  ['今天星期几', [time()], [`${NOW}Z`], '2026-11-22（星期日）'],
  ['what is the date today in Sydney', [time('Australia/Sydney')], [`${NOW}+11:00`], '2026-11-22 (Sunday)'],
  ['what time is it', [time()], ['about nine'], 'about nine'],
  [
    'what time is it in Oslo, and what is 2+2?',
    [time('Europe/Oslo'), calc('2+2')],
    [`${NOW}+01:00`, '4'],
    'Oslo: 2026-11-22 09:05:07 (UTC+01:00), 2+2 = 4',
  ],
];

const TEXT: readonly Row[] = [
  ['reverse "hello"', [text('reverse', 'hello')], ['olleh'], 'olleh'],
  ['Please reverse the word stressed.', [text('reverse', 'stressed')], ['desserts'], 'desserts'],
  ['reverse hello', [text('reverse', 'hello')], ['olleh'], 'olleh'],
  ['把 hello 变成大写', [text('upper', 'hello')], ['HELLO'], 'HELLO'],
  ['将 Hello World 转换成小写', [text('lower', 'Hello World')], ['hello world'], 'hello world'],
  ['hello 转大写', [text('upper', 'hello')], ['HELLO'], 'HELLO'],
  ['反转 hello', [text('reverse', 'hello')], ['olleh'], 'olleh'],
  ['把“你好世界”反过来', [text('reverse', '你好世界')], ['界世好你'], '界世好你'],
  ['upper case of salt and pepper', [text('upper', 'salt and pepper')], ['SALT AND PEPPER'], 'SALT AND PEPPER'],
  ['convert hello world to title case', [text('title', 'hello world')], ['Hello World'], 'Hello World'],
  ['how many words in "to be or not"?', [text('count_words', 'to be or not')], ['4'], '4'],
  ['count the characters of banana', [text('length', 'banana')], ['6'], '6'],
  ['what is the length of "abc"?', [text('length', 'abc')], ['3'], '3'],
  ['hello 有多少个字符？', [text('length', 'hello')], ['5'], '5'],
  ['“床前明月光”有几个字', [text('length', '床前明月光')], ['5'], '5'],
  ['去掉“  a b  ”两边的空格', [text('trim', '  a b  ')], ['a b'], 'a b'],
  ['trim "  a b  "', [text('trim', '  a b  ')], ['a b'], 'a b'],
  [
    'replace "a" with "o" in "banana"',
    [text('replace', 'banana', { search: 'a', replacement: 'o' })],
    ['bonono'],
    'bonono',
  ],
  ['把 banana 里的 a 替换成 o', [text('replace', 'banana', { search: 'a', replacement: 'o' })], ['bonono'], 'bonono'],
  ['does "banana" contain "nan"?', [text('contains', 'banana', { search: 'nan' })], ['true'], 'true'],
  ['repeat "ab" 3 times', [text('repeat', 'ab', { count: 3 })], ['ababab'], 'ababab'],
  ['把“哈”重复 3 遍', [text('repeat', '哈', { count: 3 })], ['哈哈哈'], '哈哈哈'],
  ['"1+1" in reverse', [text('reverse', '1+1')], ['1+1'], '1+1'],
  [
    'reverse "abc" and upper case of "def"',
    [text('reverse', 'abc'), text('upper', 'def')],
    ['cba', 'DEF'],
    'reverse("abc") = cba, upper("def") = DEF',
  ],
];

/** After `100 + 200` with the answer 300. */
const FOLLOW_UPS: readonly Row[] = [
  ['and times 3?', [calc('300 * 3')], ['900'], '900'],
  ['再乘以 3', [calc('300 * 3')], ['900'], '900'],
  ['plus 10', [calc('300 + 10')], ['310'], '310'],
  ['what is that divided by 4?', [calc('300 / 4')], ['75'], '75'],
  ['然后减去五十呢？', [calc('300 - 50')], ['250'], '250'],
  ['double it', [calc('2 * 300')], ['600'], '600'],
  ['再加 1 再乘以 2', [calc('(300 + 1) * 2')], ['602'], '602'],
];

const REPLIES: readonly (readonly [request: string, part: string])[] = [
  ['hello', 'Hello!'],
  ['你好', '你好！'],
  ['thank you', 'You are welcome!'],
  ['谢谢', '不客气'],
  ['再见', '再见'],
  ['who are you?', 'a few rules, not a language model'],
  ['你能做什么', '一组规则'],
  ['help', 'OPENAI_API_KEY=…'],
  ['Write a poem about ravens', 'I did not understand'],
  ['写一首诗', '没有听懂'],
  ['what time is it in Springfield?', 'do not know the time zone of "Springfield"'],
  ['current time in Málaga', 'do not know the time zone of "Málaga"'],
  ['uppercase "a", "b"', 'I did not understand'],
  ['火星现在几点', '不知道“火星”的时区'],
  ['what is the date tomorrow?', 'I did not understand'],
  ['what time was it in Tokyo yesterday', 'I did not understand'],
  ['what is the current time in Oslo tomorrow', 'I did not understand'],
  ['明天星期几', '没有听懂'],
  ['昨天北京几点', '没有听懂'],
  ['reverse it', 'I did not understand'],
  ['times 3', 'no result yet'],
  ['再乘以 3', '还没有结果'],
  ['What is the length of the Nile?', 'I did not understand'],
  ['How do I reverse a linked list in C?', 'I did not understand'],
  ['does this product contain nuts?', 'I did not understand'],
  ['什么时候有时间', '没有听懂'],
  [`${'1+'.repeat(5_000)}1`, 'I did not understand'],
];

const model = new OfflineModel();
const tools = ['calculator', 'get_timestamp', 'string_tools'].map((name) => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
}));

async function plannedFor(messages: readonly Message[]) {
  const request: ChatRequest = { messages, tools };
  const { message } = await model.generate(request);
  const calls = (message.toolCalls ?? []).map(({ name, arguments: input }) => [name, JSON.parse(input)]);
  const answerTo = async (results: readonly string[]) => {
    const given = (message.toolCalls ?? []).map(({ id, name }, i): Message => ({
      role: 'tool',
      toolCallId: id,
      name,
      content: results[i] ?? '',
    }));
    const last = await model.generate({ ...request, messages: [...messages, message, ...given] });
    return last.message.content;
  };
  return { calls, answerTo };
}

const EARLIER: readonly Message[] = [
  { role: 'user', content: '计算 100 + 200' },
  {
    role: 'assistant',
    content: '',
    toolCalls: [{ id: 'call_1_1', name: 'calculator', arguments: '{"expression":"100 + 200"}' }],
  },
  { role: 'tool', toolCallId: 'call_1_1', name: 'calculator', content: '300' },
  { role: 'assistant', content: '300' },
];

describe('the offline model', () => {
  it.each([...ARITHMETIC, ...TIME, ...TEXT])('answers the request: %s', async (request, calls, results, answer) => {
    const planned = await plannedFor([{ role: 'user', content: request }]);
    expect(planned.calls).toEqual(calls);
    expect(await planned.answerTo(results)).toBe(answer);
  });

  it.each(FOLLOW_UPS)('answers after another question: %s', async (request, calls, results, answer) => {
    const planned = await plannedFor([...EARLIER, { role: 'user', content: request }]);
    expect(planned.calls).toEqual(calls);
    expect(await planned.answerTo(results)).toBe(answer);
  });

  it.each(REPLIES)('answers without a tool: %.60s', async (request, part) => {
    const { message } = await model.generate({ messages: [{ role: 'user', content: request }], tools });
    expect(message.toolCalls).toBeUndefined();
    expect(message.content).toContain(part);
  });

  it('continues from the last of several answers, also if the turn has only the answer', async () => {
    const messages: Message[] = [
      { role: 'assistant', content: '1+1 = 2, 2*3 = 6' },
      { role: 'user', content: 'minus 1' },
    ];
    expect((await plannedFor(messages)).calls).toEqual([calc('6 - 1')]);
  });

  it('answers partly, and names the missing tool', async () => {
    const messages: Message[] = [{ role: 'user', content: 'what is 2+2 and what time is it in Oslo?' }];
    const request = { messages, tools: tools.slice(0, 1) };
    const { message } = await model.generate(request);
    expect(message.toolCalls?.map(({ name }) => name)).toEqual(['calculator']);
    const result: Message = { role: 'tool', toolCallId: 'call_1_1', name: 'calculator', content: '4' };
    const last = await model.generate({ ...request, messages: [...messages, message, result] });
    expect(last.message.content).toMatch(/^2\+2 = 4\n.*needs the tool get_timestamp.*OPENAI_API_KEY=/);
  });

  it('answers any request quickly', async () => {
    const pieces = [
      '1+',
      'a b ',
      '把',
      '"',
      "'a",
      'replace a with b in ',
      'what time in ',
      'one hundred ',
      'abs(',
      'max(1,(',
      '再加 ',
      ',',
    ];
    for (const piece of pieces) {
      const content = piece.repeat(2_000 / piece.length);
      const started = process.cpuUsage();
      await model.generate({ messages: [{ role: 'user', content }], tools });
      expect({ piece, isQuick: process.cpuUsage(started).user < 250_000 }).toEqual({ piece, isQuick: true });
    }
  });
});
