import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { toPreview } from './run-statement.factory.js';

describe('the preview of a question', () => {
  it('is its start, without half a surrogate pair', () => {
    expect(toPreview('short')).toBe('short');
    expect(toPreview('x'.repeat(201))).toBe('x'.repeat(200));
    expect(toPreview(`${'x'.repeat(199)}\u{1F426}`)).toBe('x'.repeat(199));
    expect(toPreview(`${'x'.repeat(198)}\u{1F426}y`)).toBe(`${'x'.repeat(198)}\u{1F426}`);
    expect(toPreview('a\0b\ud800c')).toBe('a\ufffdb\ufffdc');
  });

  it('can be stored by every database', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const preview = toPreview(text);
        expect(preview.length).toBeLessThanOrEqual(200);
        expect(preview.isWellFormed()).toBe(true);
        expect(text.replaceAll('\0', '\ufffd').startsWith(preview)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});
