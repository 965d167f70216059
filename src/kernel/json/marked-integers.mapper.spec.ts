import { describe, expect, it } from 'vitest';
import { MarkedIntegers } from './marked-integers.mapper.js';

const ID = '9123456789012345677';
const LINES = `{"a":${ID},"b":"${ID}","c":[1,1e400,-${ID}]}\n{"d":1}\r\n[${ID}]`;

describe('MarkedIntegers', () => {
  it.each([1, 2, 7, 1000])('passes integers through JSON.parse, in pieces of %i characters', (size) => {
    const integers = new MarkedIntegers();
    const mark = integers.marker();
    let marked = '';
    for (let at = 0; at < LINES.length; at += size) marked += mark(LINES.slice(at, at + size));
    marked += mark();
    const parsed = marked.split(/\r?\n/).map((line) => integers.restore(JSON.parse(line)));
    expect(parsed.map((value) => JSON.stringify(value))).toEqual(LINES.split(/\r?\n/));
  });

  it('returns every line as soon as it is complete', () => {
    const mark = new MarkedIntegers().marker();
    expect([mark('[1]'), mark('\n[2'), mark(']\n\n'), mark('[3]'), mark()]).toEqual([
      '',
      '[1]\n',
      '[2]\n\n',
      '',
      '[3]',
    ]);
  });

  it('leaves other lines than JSON unchanged', () => {
    const mark = new MarkedIntegers().marker((line) => line.startsWith('data'));
    const events = `id: ${ID}\ndata: {"a":1}\n\n`;
    expect(mark(events)).toBe(events);
  });

  it('treats the mark of another connection as text', () => {
    const other = new MarkedIntegers().marker();
    const text = other(`[${ID}]\n`);
    const integers = new MarkedIntegers();
    const mark = integers.marker();
    expect(JSON.stringify(integers.restore(JSON.parse(mark(`[${ID},${text.trim()}]\n`))))).toBe(
      `[${ID},${text.trim()}]`,
    );
  });
});
