import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
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

describe('what it streams', () => {
  const recorded = fc.constantFrom(...RECORDED.map(({ reply }) => reply));

  it('is the text, however it is cut into pieces', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(wild, recorded), { maxLength: 3 }),
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

  it('comes as the model writes it', () => {
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
    ['\n', CALL],
  ])('is read in linear time: %j', (piece, start = '') => {
    const time = (length: number, rounds: number) => {
      const reply = start + piece.repeat(length / piece.length);
      let best = Number.POSITIVE_INFINITY;
      for (let round = 0; round < rounds; round++) {
        const from = performance.now();
        decode(reply);
        streamed(reply.match(/[\s\S]{1,997}/g) ?? []);
        protocol.encode({ instructions: '', messages: [{ role: 'user', content: reply }], tools: [] });
        best = Math.min(best, performance.now() - from);
      }
      return best;
    };
    time(20_000, 1);
    expect(time(1_000_000, 1) / Math.max(0.5, time(125_000, 3))).toBeLessThan(40);
  });
});
