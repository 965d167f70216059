import { afterEach, describe, expect, it, vi } from 'vitest';
import type { BinaryMark } from './json-result.mapper.js';
import { ResultFiles } from './result-files.builder.js';

const COUNT = 2000;

/** Distinct contents of one size. */
function contents(): Buffer[] {
  return Array.from({ length: COUNT }, (_, at) => {
    const bytes = Buffer.alloc(8, 0xff);
    bytes.writeUInt32BE(at);
    return bytes;
  });
}

describe('the files of a result', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('are taken out without comparing each content with all others', () => {
    const compared = vi.spyOn(Buffer.prototype, 'equals');
    const files = new ResultFiles({ maxBytes: 1000 });
    const { text } = files.shown({ value: '', text: '' }, { text: contents().map((bytes) => ({ bytes })) });
    expect(text.split('\n')).toHaveLength(COUNT);
    expect(compared.mock.calls.length).toBeLessThan(COUNT);
  });

  it('are found by their marks without reading each mark for each text', () => {
    let reads = 0;
    const value = contents().map((bytes) => bytes.toString('base64'));
    const marks = value.map((start): BinaryMark => ({
      start,
      get length() {
        reads += 1;
        return start.length;
      },
    }));
    const { value: shown } = new ResultFiles({ maxBytes: 1_000_000 }).shown({ value, text: '' }, { marks });
    expect(shown).toEqual(value.map(() => '[file: application/octet-stream, 8 bytes]'));
    expect(reads).toBeLessThan(10 * COUNT);
  });

  it('have one reference for equal content', () => {
    const files = new ResultFiles({ maxBytes: 1000 });
    const part = { bytes: Buffer.from('89504e470d0a1a0a', 'hex') };
    const { text } = files.shown({ value: '', text: '' }, { text: [part, { bytes: Buffer.from(part.bytes) }] });
    expect([text.split('\n').length, files.images.length]).toEqual([2, 1]);
  });
});
