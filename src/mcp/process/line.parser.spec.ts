import { describe, expect, it } from 'vitest';
import { LineParser } from './line.parser.js';

const linesOf = (parser: LineParser, ...chunks: string[]) =>
  chunks.flatMap((chunk) => [...parser.push(Buffer.from(chunk))]);

describe('LineParser', () => {
  it('splits output into lines, independent of the chunks', () => {
    expect(linesOf(new LineParser(100), 'a\nb\r\n\n', 'c', 'd', 'e\nf', '\n')).toEqual(['a', 'b', '', 'cde', 'f']);
  });

  it('accepts chunks that end inside a character', () => {
    const bytes = Buffer.from('Jägerstraße 🐦\n');
    const parser = new LineParser(100);
    expect([...bytes].flatMap((byte) => [...parser.push(Buffer.from([byte]))])).toEqual(['Jägerstraße 🐦']);
  });

  it('accepts lines up to the maximum length', () => {
    const parser = new LineParser(5);
    expect(linesOf(parser, '12345\n', '12', '345\n')).toEqual(['12345', '12345']);
    expect(() => linesOf(parser, '123', '456')).toThrow('more than 5 bytes');
    expect(() => linesOf(parser, '123456\n')).toThrow('more than 5 bytes');
    expect(linesOf(parser, 'ok\n')).toEqual(['ok']);
  });
});
