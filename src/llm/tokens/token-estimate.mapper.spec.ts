import { beforeAll, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { inventedTexts, SCRIPTS } from '../../../test/support/invented-texts.js';
import { sampleTexts } from '../../../test/support/sample-texts.js';
import { countBytePairTokens } from './byte-pair.engine.js';
import { estimateTokens } from './token-estimate.mapper.js';
import { type Vocabulary, VocabularyLoader } from './vocabulary.loader.js';

/** Tolerance below the promised minimum for a text of a few words, in tokens. */
const SLACK = 2;
/** Texts below this length have the tolerance, in tokens. */
const SHORT = 100;

const SAMPLES = sampleTexts();
const PROSE_AND_CODE =
  'English German French Polish Turkish Vietnamese Russian Greek Hebrew Arabic Hindi Thai Chinese Japanese Korean TypeScript Python C SQL'.split(
    ' ',
  );

describe('the estimate', () => {
  const vocabularies: Vocabulary[] = [];
  beforeAll(async () => {
    const loader = new VocabularyLoader();
    vocabularies.push(await loader.load('o200k_base'), await loader.load('cl100k_base'));
  });
  const dearest = (text: string) =>
    Math.max(...vocabularies.map((vocabulary) => countBytePairTokens(vocabulary, text)));

  const expectEnough = (text: string) => {
    const tokens = dearest(text);
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(0.9 * tokens - (tokens < SHORT ? SLACK : 0));
  };

  it.each(Object.entries(SAMPLES))('is at most a tenth below both vocabularies: %s', (_, text) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(0.9 * dearest(text));
  });

  it.each(Object.entries(inventedTexts()))('is at most a tenth below for invented text: %s', (_, text) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(0.9 * dearest(text));
  });

  it.each(PROSE_AND_CODE)('is less than a third above: %s', (name) => {
    const text = SAMPLES[name]!;
    expect(estimateTokens(text)).toBeLessThan(1.34 * dearest(text));
  });

  // Each digit counts as a token, as for other models.
  it.each(['JSON', 'base64', 'hex', 'URLs', 'HTML'])('is less than twice the count: %s', (name) => {
    const text = SAMPLES[name]!;
    expect(estimateTokens(text)).toBeLessThan(1.8 * dearest(text));
  });

  it.each(['grapheme', 'grapheme-composite', 'grapheme-ascii', 'binary', 'binary-ascii'] as const)(
    'is at most a tenth, or two tokens, below for any text of %s characters',
    (unit) => {
      const texts = fc.string({ unit, maxLength: 400 });
      fc.assert(
        fc.property(texts, (text) => expectEnough(text)),
        { numRuns: 150 },
      );
    },
  );

  it('is at most a tenth, or two tokens, below for any words of any script', () => {
    const words = fc.constantFrom(...Object.values(SCRIPTS)).chain(([min, max]) => {
      const letter = fc.integer({ min, max }).map((code) => String.fromCodePoint(code));
      const word = fc.array(letter, { minLength: 1, maxLength: 12 }).map((letters) => letters.join(''));
      return fc.tuple(fc.constantFrom(' ', '', ', ', '\n', '  '), fc.array(word, { maxLength: 30 }));
    });
    const texts = fc.array(words, { maxLength: 4 }).map((parts) => parts.map(([by, all]) => all.join(by)).join(' '));
    fc.assert(
      fc.property(texts, (text) => expectEnough(text)),
      { numRuns: 600 },
    );
  });

  it('is zero for an empty text', () => {
    expect(estimateTokens('')).toBe(0);
  });
});
