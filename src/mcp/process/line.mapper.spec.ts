import { describe, expect, it } from 'vitest';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { toLine } from './child-process-transport.js';

describe('toLine()', () => {
  it('returns one line for any line reader, with unchanged content', async () => {
    const message = { text: 'a\n\r\u000b\u0085b\u2028c\u2029\ud800' };
    const lines: string[] = [];
    for await (const line of createInterface({ input: Readable.from([toLine(message)]) })) lines.push(line);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([message]);
  });
});
