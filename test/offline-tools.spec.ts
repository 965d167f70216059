import { describe, expect, it } from 'vitest';
import { describe as describeInXml } from '../src/reasoning/protocols/xml/xml.protocol.js';
import { describeTools as describeInReact } from '../src/reasoning/protocols/react/react.protocol.js';
import type { Tool } from '../src/tool/method/index.js';
import type { Message } from '../src/llm/chat/message.types.js';
import { OfflineModel } from '../src/llm/providers/offline/offline.model.js';

const text = (name: string, description = `Does ${name}. More about it.`) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
});
const TOOLS = [
  text('weather'),
  text('weather_history'),
  text('get_stock'),
  text('echo', 'Repeats a text.'),
  text('ask_writer'),
  text('calculator'),
  { name: 'now', description: 'Returns the time.', inputSchema: { type: 'object' } },
  {
    name: 'square',
    description: 'Squares.',
    inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  },
  {
    name: 'read_file',
    description: 'Reads a file.',
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string' }, head: { type: 'integer', minimum: 1 } },
      required: ['path'],
    },
  },
  {
    name: 'move',
    description: 'Moves.',
    inputSchema: {
      type: 'object',
      properties: { from: { type: 'string' }, to: { type: 'string' } },
      required: ['from', 'to'],
    },
  },
];
const model = new OfflineModel();

async function ask(...questions: readonly string[]) {
  const messages = questions.map((content): Message => ({ role: 'user', content }));
  const { message } = await model.generate({ messages, tools: TOOLS });
  const calls = (message.toolCalls ?? []).map(({ name, arguments: input }) => [name, JSON.parse(input)]);
  return { calls, content: message.content };
}

describe('the offline model calls any tool', () => {
  it.each([
    ['call weather Oslo', 'weather', { input: 'Oslo' }],
    ['Call the tool `weather` with "New York"', 'weather', { input: 'New York' }],
    ['调用 weather {"input":"Oslo"}', 'weather', { input: 'Oslo' }],
    ['请调用工具 weather：奥斯陆', 'weather', { input: '奥斯陆' }],
    ['call weather {"input":"Oslo, Norway; 1+1"}', 'weather', { input: 'Oslo, Norway; 1+1' }],
    ['use echo 2+2', 'echo', { input: '2+2' }],
    ['call get-stock ACME', 'get_stock', { input: 'ACME' }],
    ['call now', 'now', {}],
    ['call square 4', 'square', { n: 4 }],
    ['call read_file notes.txt', 'read_file', { path: 'notes.txt' }],
    ['call move {"from":"a","to":"b"}', 'move', { from: 'a', to: 'b' }],
    ['call calculator 7*6', 'calculator', { input: '7*6' }],
    ['What is the weather in Oslo?', 'weather', { input: 'Oslo' }],
    ['weather Oslo', 'weather', { input: 'Oslo' }],
    ["What's the Oslo weather?", 'weather', { input: 'Oslo' }],
    ['What is the weather in Oslo, Norway, please?', 'weather', { input: 'Oslo, Norway' }],
    ['奥斯陆的weather', 'weather', { input: '奥斯陆' }],
    ['weather 在奥斯陆', 'weather', { input: '奥斯陆' }],
    ['奥斯陆(weather)', 'weather', { input: '奥斯陆' }],
    ['show the weather history of "São Paulo"', 'weather_history', { input: 'São Paulo' }],
    ['get the stock of ACME', 'get_stock', { input: 'ACME' }],
    ['get_stock: ACME', 'get_stock', { input: 'ACME' }],
    ['Ask the writer for a poem', 'ask_writer', { input: 'a poem' }],
    ['read file notes.txt', 'read_file', { path: 'notes.txt' }],
  ])('for: %s', async (question, name, input) => {
    expect((await ask(question)).calls).toEqual([[name, input]]);
  });

  it('several times for one question', async () => {
    expect((await ask('call weather Oslo and call square 3')).calls).toEqual([
      ['weather', { input: 'Oslo' }],
      ['square', { n: 3 }],
    ]);
  });

  it.each([
    ['call move a', 'The tool move needs its arguments, for example: call move {"from":"…","to":"…"}'],
    ['call weather', 'call weather {"input":"…"}'],
    ['weather?', 'call weather {"input":"…"}'],
    ['调用 square 四', '工具 square 需要参数，例如：调用 square {"n":1}'],
    ['调用 wether 奥斯陆', '没有工具 wether。可用的工具：weather、'],
    ['你有哪些工具？', '\n调用示例：调用 weather …'],
    ['call weather {"input":', 'call weather {"input":"…"}'],
    ['call wether Oslo', 'There is no tool wether. The tools are: weather, '],
    ['Does the weather echo?', 'did not understand'],
    ['what tools do you have?', '- weather: Does weather.\n'],
    ['你有哪些工具？', '- echo: Repeats a text.\n'],
  ])('unless a text answers: %s', async (question, part) => {
    const { calls, content } = await ask(question);
    expect(calls).toEqual([]);
    expect(content).toContain(part);
  });

  it.each([
    ['XML', describeInXml],
    ['ReAct', describeInReact],
  ])('that a system text lists, in %s', async (_name, describeTools) => {
    const tools = TOOLS.map((definition) => ({ definition }) as unknown as Tool);
    const system = describeTools(tools);
    const reply = async (content: string) => {
      const messages: Message[] = [
        { role: 'system', content: system },
        { role: 'user', content },
      ];
      return (await model.generate({ messages })).message.content;
    };
    expect(await reply('What is the weather in Oslo?')).toMatch(/weather.*[\s\S]*input.*Oslo/);
    expect(await reply('read file a.txt')).toMatch(/read_file.*[\s\S]*path.*a\.txt/);
    expect(await reply('call square 4')).toMatch(/square.*[\s\S]*n\W+4/);
    expect(await reply('call now')).toMatch(/name="now"|Action: now/);
    expect(await reply('call move a')).toContain('{"from":"…","to":"…"}');
  });
});

describe('the offline model remembers the name of the user', () => {
  it.each([
    [['My name is Ada Lovelace.', 'hello', 'What is my name?'], 'Your name is Ada Lovelace.'],
    [["Hi, I'm Ada", 'who am I?'], 'Your name is Ada.'],
    [['call me bob', 'do you remember my name?'], 'Your name is bob.'],
    [['我叫小明', '你还记得我的名字吗？'], '你叫小明。'],
    [['我叫小明', '你知道我是谁吗'], '你叫小明。'],
    [['我叫小明', '我叫什么名字？'], '你叫小明。'],
    [['my name is Ada', 'my name is Bea', "what's my name"], 'Your name is Bea.'],
    [["what's my name"], 'I do not know your name yet.'],
    [['I am hungry', '我是谁'], '我还不知道你的名字'],
    [['My name is Ada'], 'Nice to meet you, Ada.'],
  ])('of %j', async (questions, answer) => {
    expect((await ask(...questions)).content).toContain(answer);
  });
});
