import { describe, expect, it } from 'vitest';
import { readStream } from '../../../../test/support/fake-llm-stream.js';
import type { Message } from '../../chat/message.types.js';
import { OfflineModel } from './offline.model.js';

const model = new OfflineModel();
const TOOLS = '- calculator: Calculates.\n- get_timestamp: Returns the time.\n- string_tools: Works on texts.';
const REACT = `Be kind.\n\nTools:\n${TOOLS}\n\nAction: <name>\nAction Input: <JSON>\n`;
const XML = `Tools:\n${TOOLS}\n\n<function_calls>\n<invoke name="…">…`;

async function reply(system: string, ...turns: readonly string[]): Promise<string> {
  const messages: Message[] = [{ role: 'system', content: system }];
  for (const [i, content] of turns.entries()) messages.push({ role: i % 2 === 0 ? 'user' : 'assistant', content });
  const { message, finishReason } = await model.generate({ messages });
  expect(message.toolCalls).toBeUndefined();
  expect(finishReason).toBe('stop');
  return message.content;
}

describe('the offline model in ReAct text', () => {
  it('calls tools, and answers from the observations in order', async () => {
    const question = '计算 1+1 和 2*3';
    const calls = await reply(REACT, question);
    expect(calls).toBe(
      'Thought: 这需要工具 calculator。\n' +
        'Action: calculator\nAction Input: {"expression":"1+1"}\n' +
        'Action: calculator\nAction Input: {"expression":"2*3"}',
    );
    const answer = 'Thought: 我可以回答了。\nFinal Answer: 1+1 = 2, 2*3 = 6';
    expect(await reply(REACT, question, calls, 'Observation: 2\nObservation: 6')).toBe(answer);
    expect(await reply(REACT, question, calls, 'Observation (calculator): 2\nObservation (calculator): 6\n')).toBe(
      answer,
    );
  });

  it('continues from an earlier final answer', async () => {
    const earlier = ['100 + 200', 'Thought: I can answer now.\nFinal Answer: 300'];
    expect(await reply(REACT, ...earlier, 'and times 3?')).toContain('Action Input: {"expression":"300 * 3"}');
  });

  it('keeps results of several lines, and reports failures', async () => {
    const calls = await reply(REACT, 'reverse "a\nb"');
    expect(calls).toContain(String.raw`Action Input: {"operation":"reverse","text":"a\nb"}`);
    expect(await reply(REACT, 'reverse "a\nb"', calls, 'Observation: b\na')).toMatch(/Final Answer: b\na$/);
    expect(await reply(REACT, '1/0', await reply(REACT, '1/0'), 'Observation: Error: Division by zero.')).toMatch(
      /Final Answer: The tool calculator failed: Division by zero\.$/,
    );
  });

  it('does not take a question for an observation', async () => {
    expect(await reply(REACT, 'Observation: 2+2')).toContain('Action: calculator');
    expect(await reply(REACT, 'hello')).toMatch(/^Thought: .*\nFinal Answer: Hello!/);
  });
});

describe('the offline model in XML text', () => {
  it('calls tools, and answers from the results in order', async () => {
    const question = 'reverse "<a> & b" and what is 2+2?';
    const calls = await reply(XML, question);
    expect(calls).toBe(
      '<function_calls>\n' +
        '<invoke name="string_tools">\n<parameter name="operation">reverse</parameter>\n' +
        '<parameter name="text">&lt;a&gt; &amp; b</parameter>\n</invoke>\n' +
        '<invoke name="calculator">\n<parameter name="expression">2+2</parameter>\n</invoke>\n' +
        '</function_calls>',
    );
    const results =
      '<function_results>\n<result tool="string_tools">b &amp; &gt;a&lt;</result>\n' +
      '<result tool="calculator">\n4\n</result>\n</function_results>';
    expect(await reply(XML, question, calls, results)).toBe('reverse("<a> & b") = b & >a<, 2+2 = 4');
  });

  it('continues from an earlier answer, or from the result if the answer has no number', async () => {
    expect(await reply(XML, '100 + 200', '300', 'plus 10')).toContain('<parameter name="expression">300 + 10<');
    const calls = await reply(XML, '100 + 200');
    const results = '<function_results><result tool="calculator">300</result></function_results>';
    expect(await reply(XML, '100 + 200', calls, results, 'It is so.', 'plus 10')).toContain('>300 + 10<');
  });
});

it('names the tool that is not in the list', async () => {
  const system = REACT.replace(/^- calculator.*\n/m, '');
  expect(await reply(system, '1+1')).toMatch(/Final Answer: .*needs the tool calculator/);
});

it('prefers function calling if the request has tools', async () => {
  const { message } = await model.generate({
    messages: [
      { role: 'system', content: REACT },
      { role: 'user', content: '1+1' },
    ],
    tools: [{ name: 'calculator', description: '', inputSchema: { type: 'object' } }],
  });
  expect(message.toolCalls).toHaveLength(1);
});

it('streams the text in chunks', async () => {
  const messages: Message[] = [
    { role: 'system', content: XML },
    { role: 'user', content: '你好' },
  ];
  const parts = await readStream(model.stream({ messages }));
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  expect(texts.length).toBeGreaterThan(20);
  expect(texts.join('')).toBe((await model.generate({ messages })).message.content);
});

it('parses long conversations quickly', async () => {
  const pieces = ['Action: a\n', 'Observation (', '<invoke name="', '<result tool="a">', 'Final Answer', '\n', '- a'];
  for (const piece of pieces) {
    const long = piece.repeat(1_000_000 / piece.length);
    for (const system of [REACT, XML]) {
      const started = process.cpuUsage();
      await reply(`${system}${long}`, 'hello', `Action: calculator\n<function_calls>${long}`, long, 'hi', '1+1');
      expect({ piece, isQuick: process.cpuUsage(started).user < 1_000_000 }).toEqual({ piece, isQuick: true });
    }
  }
});
