import { describe, expect, it } from 'vitest';
import { readStream } from '../../../../test/support/fake-llm-stream.js';
import type { ChatRequest } from '../../chat/chat.types.js';
import type { Message } from '../../chat/message.types.js';
import { OfflineModel } from './offline.model.js';

const model = new OfflineModel();
const inputSchema = { type: 'object' };
const tools = [
  { name: 'calculator', description: 'Calculates.', inputSchema },
  { name: 'get_timestamp', description: 'Returns the time.', inputSchema },
];
const ask = (content: string, given = tools): ChatRequest => ({ messages: [{ role: 'user', content }], tools: given });

async function answerAfter(content: string, result: string): Promise<string> {
  const request = ask(content);
  const { message } = await model.generate(request);
  const call = message.toolCalls?.[0];
  if (!call) throw new Error('no call was planned');
  const tool: Message = { role: 'tool', toolCallId: call.id, name: call.name, content: result };
  const last = await model.generate({ ...request, messages: [...request.messages, message, tool] });
  return last.message.content;
}

describe('OfflineModel', () => {
  it('plans a call and answers with its value only', async () => {
    const planned = await model.generate(ask('计算 100 + 200'));
    expect(planned).toMatchObject({
      finishReason: 'tool_calls',
      model: 'offline',
      message: {
        content: '',
        toolCalls: [{ id: 'call_1_1', name: 'calculator', arguments: '{"expression":"100 + 200"}' }],
      },
    });
    expect(await answerAfter('计算 100 + 200', '300')).toBe('300');
  });

  it.each([
    ['what time is it', {}],
    ['现在几点', {}],
    ['What time is it now in Asia/Shanghai?', { timezone: 'Asia/Shanghai' }],
  ])('plans a call for the time: %s', async (text, expected) => {
    const { message } = await model.generate(ask(text));
    expect(message.toolCalls?.[0]).toMatchObject({ name: 'get_timestamp', arguments: JSON.stringify(expected) });
  });

  it('reports a failed tool', async () => {
    expect(await answerAfter('1/0', 'Error: division by zero')).toBe('The tool calculator failed: division by zero');
  });

  it('returns the note of an edited call with its result', async () => {
    const note =
      '[A person changed the arguments of this call to {"expression":"1/0"}. The following is the result of the changed call.]\n';
    expect(await answerAfter('1+1', `${note}7`)).toBe(`${note}7`);
    expect(await answerAfter('1+1', `${note}Error: division by zero`)).toBe(
      `${note}The tool calculator failed: division by zero`,
    );
  });

  it('describes itself and how to configure a real model', async () => {
    for (const [text, word] of [
      ['hello', 'Hello!'],
      ['你好', '你好！'],
      ['Write a poem', 'offline model'],
      ['写一首诗', '离线模型'],
    ] as const) {
      const { message, finishReason } = await model.generate(ask(text));
      expect(finishReason).toBe('stop');
      expect(message.content).toContain(word);
      expect(message.content).toContain('OPENAI_API_KEY=');
      expect(message.content).toContain('LLM_PROVIDER=ollama');
    }
  });

  it('describes its abilities with the tools of the agent', async () => {
    const pay = { name: 'pay', description: 'Pays.', inputSchema: { type: 'object' } };
    const clock = { name: 'get_timestamp', description: 'Returns the time.', inputSchema: { type: 'object' } };
    const textOf = async (...given: Parameters<typeof ask>) => (await model.generate(ask(...given))).message.content;
    expect(await textOf('hello', [pay])).toMatch(/offline model\. I call tools by name \(call pay …\)\. To use/);
    expect(await textOf('你好', [pay])).toMatch(/离线模型。我能按名称调用工具（调用 pay …）。要使用/);
    expect(await textOf('hello', [])).toContain('This agent has no tools that I could call.');
    expect(await textOf('你好', [])).toContain('这个智能体没有可以调用的工具。');
    expect(await textOf('hello', [clock, pay])).toContain(
      'I can look up the time (what time is it in Tokyo?). I call other tools by name (call pay …).',
    );
    expect(await textOf('写一首诗', [clock])).toContain('我能告诉你时间（东京现在几点？），还能按名称调用其他工具');
  });

  it('names a missing tool', async () => {
    const { message } = await model.generate(ask('6*7', []));
    expect(message.toolCalls).toBeUndefined();
    expect(message.content).toContain('calculator');
    expect(message.content).toContain('OPENAI_API_KEY=');
  });

  it('uses the last question only, and gives each turn its own call id', async () => {
    const first = await model.generate(ask('1+1'));
    const earlier: Message[] = [
      ...ask('1+1').messages,
      first.message,
      { role: 'tool', toolCallId: 'call_1_1', name: 'calculator', content: '2' },
      { role: 'assistant', content: '2' },
    ];
    const next = await model.generate({ messages: [...earlier, { role: 'user', content: '2+2' }], tools });
    expect(next.message.toolCalls?.[0]).toMatchObject({ id: 'call_2_1', arguments: '{"expression":"2+2"}' });
  });

  it('streams the same reply by words, deterministically', async () => {
    const whole = await model.generate(ask('hello'));
    const parts = await readStream(model.stream(ask('hello')));
    const words = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    expect(words.length).toBeGreaterThan(10);
    expect(words.join('')).toBe(whole.message.content);
    expect(parts.at(-1)).toEqual({ type: 'finish', result: whole });
    expect(whole.usage).toMatchObject({ promptTokens: 2 });
  });

  it('rejects with the reason of an aborted signal', async () => {
    const options = { signal: AbortSignal.abort('enough') };
    await expect(model.generate(ask('hello'), options)).rejects.toBe('enough');
    await expect(readStream(model.stream(ask('hello'), options))).rejects.toBe('enough');
  });
});
