// The cost of hostile text in the text protocols: the slowest of many texts of 1 MB (UTF-8), for every
// protocol and direction, each the best of five.       node bench/protocols.mjs [--dist dist] [--all 50]
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { record } from './results.mjs';

const { values } = parseArgs({
  options: { dist: { type: 'string', default: 'dist' }, all: { type: 'string', default: 'Infinity' } },
});
/** Threshold in ms: all texts that take longer are listed too. */
const LISTED = Number(values.all);
const BYTES = 1_000_000;
const ROUNDS = 5;
const protocols = pathToFileURL(`${resolve(values.dist)}/reasoning/protocols/`);
const { ReactProtocol } = await import(new URL('react/react.protocol.js', protocols));
const { XmlProtocol } = await import(new URL('xml/xml.protocol.js', protocols));

/** The start of a text and, between bars, its repeated part. */
const TEXTS = {
  react: [
    [
      '',
      'x\n|a\n|\n|\r\n| | \n|:|`|```|```\n|```json\n|* \n|> x\n|- 1. x\n|<think>x</think>|Action|Action:|Action:\n|Action: a\n|' +
        'Action: calculator\n|Action: calculator("1")\n|Action: use the calculator tool\n|Action: None\n|Action: a{}\n|' +
        'Action: Final Answer\n|Action: {"name":}\n|Action: {"action":"a","action_input":{"b":"1"}}\n|行动：a\n|' +
        '1. Action 1: x\n|Action: a\nAction Input: 1\n|Action: calculator\nAction Input: {"expression":"1"}\n|' +
        "Action: calculator\nAction Input: {'expression':'1'}\n|Action: calculator\nAction Input: expression=1\n|" +
        'Action: a\nAction Input: {"x\n|Action: a\nAction Input: {"a":"\\x"}\n|Action Input:\n|Input: x\n|Thought:\n|' +
        'Thought: x\n|Thought: Action: a(1)\n|Observation:\n|Final Answer:\n',
    ],
    ['Thought: ', 'x\n|```\n|Action:\n|Thought: x\n'],
    ['Final Answer: ', 'x\n|```\n|Action:\n|Thought: x\n'],
    ['Action: Final Answer\nAction Input: ', 'x\n|```\n|"'],
    ['Action: calculator\nAction Input: {"expression":"', 'x\n|Action:\n|Thought: x\n|"\\| '],
    ['Action: a\nAction Input: {"b":[', '1,|"a",|\'a\',|{"a":1},|[|"\\n",'],
    ['```\nAction: a\nAction Input: ', '\n```|\n```\n|```|x\n'],
    ['```\nAction: ', '\n```|```\n'],
    ['Thought: ', '\n```|```js\n'],
  ],
  xml: [
    [
      '',
      'x\n| |<|</|< |<a|<a>|<x:y:|&|&amp;|`|```|```\n|```xml\n<|<![CDATA[|<func|<invoke|<invoke |<invoke name="|' +
        `<invoke a='<invoke a="|<invoke a='<invoke a=">|<invoke name="a b" |<invoke /|<invoke${' '.repeat(900)}|</invoke>|</parameter>|\`<invoke>\`|<function=a></function>|` +
        '<invoke name="a">|<invoke name="a"/>|<invoke name="a"></invoke>|<invoke name="a">{}</invoke>|' +
        '<invoke name="a"><x>{</x></invoke>|<function_calls>|<function_calls></function_calls>|<tool_call>|<tool_call>{|' +
        '</tool_call>|<tool_call>{"name":"a"}</tool_call>|<tool_call>{"}</tool_call>|<tool_call>\na\n</tool_call>\n|' +
        '<function_calls>\n<invoke name="a">\n<parameter name="q">x</parameter>\n</invoke>\n</function_calls>\n|' +
        '```xml\n<function_calls><invoke name="a"></invoke></function_calls>\n```\n',
    ],
    ['<invoke name="a">', '<|</|</x>|<x>|<x/>|</invoke>|{|<arg_key>|<parameter name="q">x</parameter>\n'],
    [
      '<invoke name="a"><parameter name="q">',
      '<|</|</x>|<x>|</param|</parameter |<parameter |</invoke>|<invoke name="a">|<![CDATA[|{| |&amp;',
    ],
    ['<invoke name="a"><q>', '<|</|</x>|<x>|</invoke>|</q '],
    ['<think>', '</think|<think>|</tool_call>|<tool_call>{"name":"a"}</tool_call>'],
    ['<tool_call>', '{"name":"a"}\n|{}\n|{"}\n|[|</invoke>|<tool_call>'],
  ],
};

const input = { type: 'object', properties: { expression: { type: 'string' } }, required: ['expression'] };
const TOOLS = [{ definition: { name: 'calculator', description: 'Calculates.', inputSchema: input } }];

/** Returns the measured function for a text, which is split beforehand. */
const DIRECTIONS = {
  decode: (protocol, content) => () =>
    protocol.decode({ message: { content }, finishReason: 'stop' }, { tools: TOOLS, iteration: 1 }),
  'stream, at once': (protocol, content) => stream(protocol, content, BYTES),
  'stream, 4 KB': (protocol, content) => stream(protocol, content, 4096),
  'stream, 1 KB': (protocol, content) => stream(protocol, content, 1024),
  'stream, 64 B': (protocol, content) => stream(protocol, content, 64),
  'encode, question': (protocol, content) => encode(protocol, { role: 'user', content }),
  'encode, answer': (protocol, content) => encode(protocol, { role: 'assistant', content }),
  'encode, result': (protocol, content) => encode(protocol, { role: 'tool', name: 'calculator', content }),
  'encode, call': (protocol, expression) =>
    encode(protocol, {
      role: 'assistant',
      content: '',
      toolCalls: [{ name: 'calculator', arguments: JSON.stringify({ expression }) }],
    }),
};

function stream(protocol, content, length) {
  const pieces = content.match(new RegExp(`[\\s\\S]{1,${length}}`, 'g'));
  return () => {
    const decoder = protocol.decodeStream();
    for (const piece of pieces) decoder.push(piece);
    decoder.end();
  };
}

function encode(protocol, message) {
  return () => {
    const { messages } = protocol.encode({ instructions: '', messages: [message], tools: TOOLS });
    // Copies a concatenated string into one text, as sending does.
    for (const { content } of messages) content.charCodeAt(0);
  };
}

function toText([start, unit], bytes) {
  return start + unit.repeat(Math.floor((bytes - start.length) / Buffer.byteLength(unit)));
}

function fastest(run) {
  const times = Array.from({ length: ROUNDS }, () => {
    const from = performance.now();
    run();
    return performance.now() - from;
  });
  return Math.min(...times);
}

const rows = [];
for (const protocol of [new ReactProtocol(), new XmlProtocol()]) {
  for (const [direction, prepare] of Object.entries(DIRECTIONS)) {
    const texts = TEXTS[protocol.name].flatMap(([start, units]) => units.split('|').map((unit) => [start, unit]));
    for (const text of texts) prepare(protocol, toText(text, BYTES / 50))();
    const measured = texts.map((text) => ({ text, ms: fastest(prepare(protocol, toText(text, BYTES))) }));
    measured.sort((a, b) => b.ms - a.ms);
    const name = `${protocol.name}, ${direction}, slowest text`;
    rows.push({ name, result: `${measured[0].ms.toFixed(0)} ms` });
    for (const { text, ms } of measured.filter((one, place) => place === 0 || one.ms > LISTED))
      console.log(protocol.name.padEnd(5), direction.padEnd(16), `${ms.toFixed(1).padStart(7)} ms  ${textName(text)}`);
  }
}

record('protocols', rows);

function textName(text) {
  return text
    .filter((part) => part !== '')
    .map((part) => JSON.stringify(part.length > 60 ? `${part.slice(0, 60)}…` : part))
    .join(' + ');
}
