import { beforeAll, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import * as cl100k from 'gpt-tokenizer/encoding/cl100k_base';
import * as o200k from 'gpt-tokenizer/encoding/o200k_base';
import { sampleTexts } from '../../../test/support/sample-texts.js';
import { countBytePairTokens } from './byte-pair.engine.js';
import { type Vocabulary, VocabularyLoader } from './vocabulary.loader.js';

const asPlainText = { disallowedSpecial: new Set<string>() };

describe.each([
  ['o200k_base', o200k],
  ['cl100k_base', cl100k],
] as const)('%s', (name, library) => {
  let vocabulary: Vocabulary;
  beforeAll(async () => void (vocabulary = await new VocabularyLoader().load(name)));
  const count = (text: string) => countBytePairTokens(vocabulary, text);
  const expected = (text: string) => library.countTokens(text, asPlainText);

  it.each(Object.entries(sampleTexts()))('matches the library: %s', (_, text) => {
    // Each cut of a piece that is too long for one merge may add a token.
    const cuts = Math.floor(Buffer.byteLength(text) / 200);
    const known = expected(text.slice(0, 4000));
    expect(count(text.slice(0, 4000))).toBeGreaterThanOrEqual(known);
    expect(count(text.slice(0, 4000))).toBeLessThanOrEqual(known + cuts);
  });

  it.each(['grapheme', 'binary', 'binary-ascii'] as const)(
    'matches the library for any text of %s characters',
    (unit) => {
      fc.assert(
        fc.property(fc.string({ unit, maxLength: 60 }), (text) => {
          expect(count(text)).toBe(expected(text));
        }),
        { numRuns: 500 },
      );
    },
  );

  it('counts names of special tokens as text', () => {
    expect(count('<|endoftext|>')).toBeGreaterThan(1);
    expect(count('')).toBe(0);
  });
});
