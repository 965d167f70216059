import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { wildMarkup as wild } from '../../../../test/support/wild-markup.js';
import { XmlProtocol } from './xml.protocol.js';

const protocol = new XmlProtocol();
const RECORDED = JSON.parse(
  readFileSync(new URL('../../../../test/fixtures/xml-replies.json', import.meta.url), 'utf8'),
) as readonly { readonly reply: string }[];

function decode(content: string) {
  const message = { role: 'assistant' as const, content };
  return protocol.decode({ message, finishReason: 'stop', model: 'm' }, { tools: [], iteration: 1 });
}

function streamed(pieces: readonly string[]): string {
  const stream = protocol.decodeStream();
  return pieces.map((piece) => stream.push(piece)).join('') + stream.end();
}

describe('the streamed text', () => {
  const recorded = fc.constantFrom(...RECORDED.map(({ reply }) => reply));
  const think = fc.constantFrom('<think>', '</think>', '<thinking>a</thinking>\n', ' ');

  it('equals the decoded text for any pieces', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(wild, recorded, think), { maxLength: 5 }),
        fc.infiniteStream(fc.nat(9)),
        (parts, sizes) => {
          const reply = parts.join('');
          const pieces: string[] = [];
          for (let at = 0; at < reply.length; at += pieces.at(-1)!.length || 1) {
            pieces.push(reply.slice(at, at + 1 + sizes.next().value!));
          }
          const whole = decode(reply).text;
          expect(streamed(pieces)).toBe(whole);
          expect(streamed(reply.split(''))).toBe(whole);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it.each([
    `Well. <function_calls><invoke name="my tool" id = 'a b'><parameter name="q r">x</parameter></invoke></function_calls>`,
    `<invoke name="add"><parameter name="q" value="one two = <three>" string="true"/></invoke> Done.`,
    `<function = "my_tool" note="a > b"></function>`,
  ])('contains no part of a tag whose attributes are cut anywhere: %s', (reply) => {
    const { text, calls } = decode(reply);
    expect(text + JSON.stringify(calls)).not.toContain('<invoke');
    expect(calls).toHaveLength(1);
    for (let at = 1; at < reply.length; at++) expect(streamed([reply.slice(0, at), reply.slice(at)])).toBe(text);
  });

  it('is emitted as the model writes it', () => {
    const stream = protocol.decodeStream();
    expect(['Let ', 'me', ' see a < b', ' <b>now</b>.'].map((piece) => stream.push(piece))).toEqual([
      'Let',
      ' me',
      ' see a',
      ' < b <b>now</b>.',
    ]);
    expect(stream.push('\n<function_calls>\n<invoke name="noop"/></function_calls>Done')).toBe('\nDone');
    expect(stream.push('.<function_results>1</function_results> so it is')).toBe('.');
    expect(stream.push('more') + stream.end()).toBe('');
  });

  it('contains no tag of any length in pieces of any size', () => {
    const tag = `<invoke name="noop" note="${'x'.repeat(400)}"/>`;
    for (const length of [1, 7, 100]) {
      expect(streamed(`a ${tag} b`.match(new RegExp(`[^]{1,${length}}`, 'g'))!)).toBe('a b');
    }
  });
});

describe('the limits of a reply', () => {
  const argumentsOf = (reply: string) => decode(reply).calls.map((call) => call.arguments);

  it.each([
    ['a block for each', '<tool_call>noop</tool_call>\n', '', ''],
    ['one block', '<invoke name="noop"/>', '<function_calls>', '</function_calls>'],
    ['JSON', '<tool_call>{"name":"noop"}</tool_call>', '', ''],
    ['lines of JSON', '{"name":"noop"}\n', '<tool_call>', '</tool_call>'],
  ])('reject input after 1,000 calls: %s', (_, call, start, end) => {
    const found = argumentsOf(start + call.repeat(1_500) + end);
    expect(found).toHaveLength(1_001);
    expect(new Set(found.slice(0, 1_000))).toEqual(new Set(['{}']));
    expect(found.at(-1)).toBe('Over 1000 calls');
  });

  it('reject only the call with more than 1,000 parameters', () => {
    const call = (count: number) => `<invoke name="noop">${'<parameter name="a">1</parameter>'.repeat(count)}</invoke>`;
    expect(argumentsOf(`<function_calls>${call(1_000)}${call(5_000)}${call(2)}</function_calls>`)).toEqual([
      '{"a":1}',
      'Over 1000 parameters',
      '{"a":1}',
    ]);
  });
});

describe('too many marks in a reply', () => {
  const CALL = '<invoke name="search"><parameter name="query">x</parameter></invoke>';
  const cut = (text: string, length: number) => text.match(new RegExp(`[\\s\\S]{1,${length}}`, 'g'))!;

  it('make the rest of the reply text, without calls', () => {
    const reply = `So:${'`<invoke>`'.repeat(10_500)} ${CALL}`;
    expect(decode(reply)).toMatchObject({ calls: [], text: reply });
    for (const length of [7, 64, 5_000]) expect(streamed(cut(reply, length))).toBe(reply);
  });

  it.each([
    ['of blocks without calls', '<function_calls></function_calls>'.repeat(10_500) + CALL, 0],
    ['in a block', `<function_calls>${CALL}${'</thing>'.repeat(10_500)}${CALL}</function_calls>`, 1],
    [
      'in a value',
      `<function_calls>${CALL}<invoke name="a">${'<arg_key>'.repeat(10_500)}</invoke>${CALL}</function_calls>`,
      2,
    ],
  ])('end the reading: %s', (_, reply, calls) => {
    expect(decode(reply)).toMatchObject({ text: '' });
    expect(decode(reply).calls).toHaveLength(calls);
    for (const length of [7, 64, 5_000]) expect(streamed(cut(reply, length))).toBe('');
  });
});

describe('hostile text', () => {
  const CALL = '<function_calls><invoke name="search"><parameter name="query">';
  it.each([
    ['<'],
    ['`'],
    ['< '],
    [' '],
    ['<function_calls>'],
    ['<function_calls> '],
    ['<invoke name="'],
    ['<invoke a=\'<invoke a="'],
    ['<invoke name="x">'],
    [`<invoke${' '.repeat(900)}`],
    ['<tool_call>{'],
    ['<tool_call>a'],
    ['```xml\n<'],
    ['`<function_results>`'],
    [CALL],
    ['<', CALL],
    ['</', CALL],
    ['</parameter ', CALL],
    ['<![CDATA[', CALL],
    [']]', `${CALL}<![CDATA[`],
    ['&amp', CALL],
    ['<x>', '<invoke name="search">'],
    ['<x/>', '<invoke name="search">'],
    ['<parameter name="a">1</parameter>\n', '<invoke name="search">'],
    ['<x>', '<invoke name="search"><query>'],
    ['</x>', '<invoke name="search"><query>'],
    ['<x>', CALL],
    ['</param', CALL],
    ['<invoke name="a">', CALL],
    ['<!', CALL],
    ['{', CALL],
    ['\n', CALL],
    ['<a'],
    ['<invoke '],
    [`<invoke${' '.repeat(500)}"`],
    [`<invoke${' a=b'.repeat(200)}`],
    ['<invoke name="a"></invoke>'],
    ['<function_calls></function_calls>'],
    ['<tool_call>{"}</tool_call>'],
    ['{"}\n', '<tool_call>'],
    ['```\n'],
    ['<think>'],
    ['</', '<think>'],
    ['<think></think>'],
    ['</tool_call>', '<think>'],
    ['<tool_call>{"name":"a"}</tool_call>', '<think>'],
  ])('is read in linear time: %j', (piece, start = '') => {
    expectLinear((length) => start + piece.repeat(length / piece.length));
  });

  it('is read in linear time: blocks in blocks that others close', () => {
    expectLinear((length) => '<tool_call>'.repeat(length / 22) + '</function_call>'.repeat(length / 32));
  });

  /** Measures CPU time, so that other processes do not count. */
  function expectLinear(build: (length: number) => string): void {
    const time = (length: number, rounds: number) => {
      const reply = build(length);
      let best = Number.POSITIVE_INFINITY;
      for (let round = 0; round < rounds; round++) {
        const from = process.cpuUsage();
        decode(reply);
        streamed(reply.match(/[\s\S]{1,997}/g) ?? []);
        protocol.encode({ instructions: '', messages: [{ role: 'user', content: reply }], tools: [] });
        best = Math.min(best, process.cpuUsage(from).user / 1000);
      }
      return best;
    };
    time(20_000, 1);
    // A pause of the machine may distort one comparison; a quadratic parser (64) fails all of them.
    const factors = [1, 2, 3, 4].values().map(() => time(1_000_000, 1) / Math.max(0.5, time(125_000, 3)));
    expect(factors.some((factor) => factor < 40)).toBe(true);
  }
});
