import { describe, expect, it } from 'vitest';
import { ReactProtocol } from './react.protocol.js';

const protocol = new ReactProtocol();

function decode(content: string) {
  const message = { role: 'assistant' as const, content };
  return protocol.decode({ message, finishReason: 'stop', model: 'm' }, { tools: [], iteration: 1 });
}

function streamed(reply: string, length: number): string {
  const decoder = protocol.decodeStream();
  let text = '';
  for (let at = 0; at < reply.length; at += length) text += decoder.push(reply.slice(at, at + length));
  return text + decoder.end();
}

describe('the stream decoder', () => {
  it('emits the answer as soon as it is received', () => {
    const decoder = protocol.decodeStream();
    const shown = ['Tho', 'ught: x\nFinal', ' Answer', ': It', ' is', ' 2', '.\nObs', 'olete', '.'].map((piece) =>
      decoder.push(piece),
    );
    expect(shown).toEqual(['', '', '', 'It', ' is', ' 2', '.', '\nObsolete', '.']);
  });

  it('emits an answer without a label as soon as a label is ruled out', () => {
    const decoder = protocol.decodeStream();
    expect(['A', 'ct', 'ually, ', 'yes'].map((piece) => decoder.push(piece))).toEqual(['', '', 'Actually,', ' yes']);
  });
});

describe('long text', () => {
  const LINE = 'and so on, and so on: ';

  it.each([
    ['an answer', '', (text: string) => text],
    ['a labelled answer', 'Thought: hm\nFinal Answer: ', (text: string) => text],
    ['a thought', 'Thought: ', () => ''],
    ['an input', 'Action: a\nAction Input: ', () => ''],
  ])('is read alike whole and in pieces: %s', (_, start, shown) => {
    const text =
      `x\n${LINE}\n\`\`\`\n${LINE.repeat(20)}\nInput: y\n\`\`\`\nAction Time: now\n- 1. ${LINE}\n`.repeat(20) + 'end';
    expect(decode(start + text).text).toBe(shown(text));
    for (const length of [1, 7, 160, 1_000]) expect(streamed(start + text, length)).toBe(shown(text));
  });

  it('retains its order after a fence that a line with long blanks follows', () => {
    const text = `So:\n\`\`\`\n${' '.repeat(200)}x\ny`;
    expect([decode(text).text, streamed(text, 1), streamed(text, 100)]).toEqual([text, text, text]);
  });
});

/** Separated by bars. */
const HOSTILE: readonly string[] = (
  ':| |`|{|[|(|\n|"|\'|*|\\|<think>|Action|Action:|Action: |Action\n|Action:\n|Action: a\n|Action Input: |Action Input:\n|' +
  '```\n|``` \n|x\n|\n |{\'a\':|"\\|Thought: Action: |Action: a(|行动：|Final Answer:|- 1. |a=1,|{"a":|\' ,|\r|[1]\n|a\n|' +
  '* \n|Thought: x\n|Input: x\n|<think>x</think>|Action: Final Answer\n|Action: {"name":}\n|Action: use the a tool\n|' +
  'Action: None\n|Action: a(1)\n|Action: a\nAction Input: {"a":"\\x"}\n|Action: a\nAction Input: {\'a\':1}\n|1,|"\\n",'
).split('|');
const STARTS = [
  '',
  'Thought: ',
  'Action: ',
  'Action: calculator\nAction Input: ',
  'Action: a\nAction Input: {"b":[',
  '```\nAction: a\nAction Input: ',
];

describe('too many marks in a reply', () => {
  const CALL = 'Action: calculator\nAction Input: {"expression":"1"}\n';
  it.each([
    ['labels in a sentence', `So:\n${'Action: do what I said\n'.repeat(10_500)}`, (text: string) => text.trim()],
    ['fences', `So:\n${'```\n'.repeat(10_500)}`, (text: string) => text.trim()],
    ['thoughts', 'Thought: x\n'.repeat(10_500), () => ''],
  ])('end the parsing, in pieces of any size: %s', (_, start, shown) => {
    const reply = start + CALL;
    expect(decode(reply)).toMatchObject({ calls: [], text: shown(reply) });
    for (const length of [7, 64, 5_000]) expect(streamed(reply, length)).toBe(shown(reply));
  });
});

describe('hostile text', () => {
  it.each(HOSTILE)('is read in linear time: %j', (unit) => {
    for (const start of STARTS) {
      // A pause of the machine may distort one comparison; a quadratic parser fails all of them.
      const factors = [1, 2, 3, 4].values().map(() => growth(start, unit));
      expect(factors.some((factor) => factor < 40)).toBe(true);
    }
  });
});

/** Factor by which the time grows for a text of eight times the length. */
function growth(start: string, unit: string): number {
  const small = fastest(() => work(start, unit, 16_000));
  return fastest(() => work(start, unit, 128_000)) / Math.max(small, 1);
}

function work(start: string, unit: string, length: number): void {
  const content = start + unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
  decode(content);
  streamed(content, 7);
  const result = { role: 'tool' as const, toolCallId: '1', name: 'noop', content };
  protocol.encode({ instructions: '', messages: [{ role: 'user', content }, result], tools: [] });
}

/** CPU time in ms, so that other processes do not count; the faster of two runs, to ignore a pause of the machine. */
function fastest(run: () => void): number {
  return Math.min(
    ...[1, 2].map(() => {
      const start = process.cpuUsage();
      run();
      return process.cpuUsage(start).user / 1000;
    }),
  );
}
