import { describe, expect, it } from 'vitest';
import { array, assert, nat, property } from 'fast-check';
import { SseParser } from './wire-chat.model.js';

function parse(...pieces: (string | Uint8Array)[]): string[] {
  const parser = new SseParser();
  const bytes = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece));
  return [...bytes.flatMap((piece) => parser.push(piece)), ...parser.end()];
}

describe('SseParser', () => {
  it('returns the data of each event, and nothing for comments and other fields', () => {
    expect(parse(': keep-alive\n\nevent: x\nid: 1\ndata: a\n\nretry: 5\n\ndata:b\r\n\r\ndata: c\ndata: d\n\n')).toEqual(
      ['a', 'b', 'c\nd'],
    );
  });

  it('returns the last event with or without a blank line', () => {
    expect(parse('data: a')).toEqual(['a']);
    expect(parse('data: a\n')).toEqual(['a']);
    expect(parse('')).toEqual([]);
  });

  it('accepts CR as the end of a line, a byte order mark, and an error in a field of its own', () => {
    expect(parse('\uFEFFdata: a\r\rdata:b\r\r')).toEqual(['a', 'b']);
    expect(parse('data: a\n\nerror: {"code":400}\n\ndata: [DONE]\n')).toEqual(['a', '{"code":400}', '[DONE]']);
  });

  it('returns the same events for any chunk boundaries', () => {
    const stream = Buffer.from('data: {"text":"你好 🐦"}\r\n\r\n: x\n\ndata: é\ndata: ü\n\ndata: [DONE]\n\n');
    const whole = parse(stream);
    assert(
      property(array(nat(stream.length)), (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), stream.length];
        const pieces = at.slice(1).map((end, n) => stream.subarray(at[n], end));
        expect(parse(...pieces)).toEqual(whole);
      }),
    );
  });

  it('parses a line of many chunks in linear time', () => {
    const piece = 'x'.repeat(100);
    const pieces = Array.from({ length: 20_000 }, () => piece);
    const [event] = parse('data: ', ...pieces, '\n\n');
    expect(event).toHaveLength(2_000_000);
  });
});
