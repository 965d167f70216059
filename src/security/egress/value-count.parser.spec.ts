import { describe, expect, it } from 'vitest';
import { ValueCounter } from './value-count.parser.js';

const counted = (...chunks: string[]): number => {
  const counter = new ValueCounter();
  for (const chunk of chunks) counter.count(Buffer.from(chunk));
  return counter.values;
};

describe('the values of a JSON text', () => {
  it.each([
    ['{"a":[1,2,3],"b":{}}', 6],
    ['["a,b,[{", "c\\",d", "\\\\", 1]', 4],
    ['"a text"', 0],
    ['data: {"a":1}\n\n: a remark, with one "\ndata: [1,2]\n\n', 4],
  ])('are counted: %s', (text, values) => {
    expect(counted(text)).toBe(values);
    expect(counted(...text.split(''))).toBe(values);
  });
});
