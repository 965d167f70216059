import { beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { sampleTexts } from '../../../test/support/sample-texts.js';
import { countBytePairTokens } from './byte-pair.engine.js';
import { estimateTokens } from './token-estimate.mapper.js';
import { VocabularyLoader } from './vocabulary.loader.js';
import type { Vocabulary } from './vocabulary.types.js';

/** Tokens that the estimate of a few words may be below what it promises. */
const SLACK = 2;
/** Shorter than this a text is a few words, in tokens. */
const SHORT = 100;

describe('the estimate', () => {
  const vocabularies: Vocabulary[] = [];
  beforeAll(async () => {
    const loader = new VocabularyLoader();
    vocabularies.push(await loader.load('o200k_base'), await loader.load('cl100k_base'));
  });
  const dearest = (text: string) =>
    Math.max(...vocabularies.map((vocabulary) => countBytePairTokens(vocabulary, text)));

  it.each(Object.entries(sampleTexts()))('is at most a tenth below both vocabularies: %s', (_, text) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(0.9 * dearest(text));
  });

  it.each(['English', 'German', 'Chinese', 'TypeScript', 'JSON', 'Python', 'base64'])(
    'is not twice as much: %s',
    (name) => {
      const text = sampleTexts()[name]!;
      expect(estimateTokens(text)).toBeLessThan(1.8 * dearest(text));
    },
  );

  it.each(['grapheme', 'grapheme-composite', 'grapheme-ascii', 'binary', 'binary-ascii'] as const)(
    'is at most a tenth, or two tokens, below for any text of %s characters',
    (unit) => {
      fc.assert(
        fc.property(fc.string({ unit, maxLength: 400 }), (text) => {
          const tokens = dearest(text);
          expect(estimateTokens(text)).toBeGreaterThanOrEqual(0.9 * tokens - (tokens < SHORT ? SLACK : 0));
        }),
        { numRuns: 400 },
      );
    },
  );

  it('is nothing for nothing', () => {
    expect(estimateTokens('')).toBe(0);
  });
});
