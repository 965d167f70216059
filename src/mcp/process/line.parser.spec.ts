import { describe, expect, it } from '@jest/globals';
import { LineParser } from './line.parser.js';

const linesOf = (parser: LineParser, ...chunks: string[]) =>
  chunks.flatMap((chunk) => [...parser.push(Buffer.from(chunk))]);

describe('what a program writes', () => {
  it('is cut into lines, wherever it is cut into chunks', () => {
    expect(linesOf(new LineParser(100), 'a\nb\r\n\n', 'c', 'd', 'e\nf', '\n')).toEqual(['a', 'b', '', 'cde', 'f']);
  });

  it('may be cut inside of a letter', () => {
    const bytes = Buffer.from('Jägerstraße 🐦\n');
    const parser = new LineParser(100);
    expect([...bytes].flatMap((byte) => [...parser.push(Buffer.from([byte]))])).toEqual(['Jägerstraße 🐦']);
  });

  it('may be as long as it may, and no longer', () => {
    const parser = new LineParser(5);
    expect(linesOf(parser, '12345\n', '12', '345\n')).toEqual(['12345', '12345']);
    expect(() => linesOf(parser, '123', '456')).toThrow('more than 5 bytes');
    expect(() => linesOf(parser, '123456\n')).toThrow('more than 5 bytes');
    expect(linesOf(parser, 'ok\n')).toEqual(['ok']);
  });
});
