import { beforeAll, describe, expect, it } from 'vitest';
import { sampleTexts } from '../../../test/support/sample-texts.js';
import { countBytePairTokens } from './byte-pair.engine.js';
import { EstimatedTokenCounter } from './token-counter.registry.js';
import { ExactTokenCounter } from './exact-token-counter.js';
import { countSampled } from './token-estimate.mapper.js';
import { type Vocabulary, VocabularyLoader } from './vocabulary.loader.js';

const sampling = { maxLength: 1000, windows: 10, windowLength: 50 };
const { English: prose = '', base64 = '', hex = '', JSON: json = '', Chinese: chinese = '' } = sampleTexts();

describe('countSampled', () => {
  it('counts a text up to the limit without sampling', () => {
    expect(countSampled('x'.repeat(1000), sampling, (text) => text.length)).toBe(1000);
  });

  it('counts only the windows of a longer text, from its first to its last character', () => {
    const seen: string[] = [];
    const text = `a${'b'.repeat(999_998)}c`;
    expect(countSampled(text, sampling, (part) => seen.push(part))).toBeGreaterThan(0);
    expect(seen.map(({ length }) => length)).toEqual(Array.from({ length: 10 }, () => 50));
    expect([seen[0]![0], seen.at(-1)!.at(-1)]).toEqual(['a', 'c']);
  });

  it('extrapolates a uniform text exactly, and an uneven one upwards', () => {
    expect(countSampled('x'.repeat(12_345), sampling, (part) => part.length)).toBe(12_345);
    const patchy = '.'.repeat(6000) + 'x'.repeat(6000);
    expect(countSampled(patchy, sampling, (part) => part.replaceAll('.', '').length)).toBeGreaterThan(6000);
  });
});

describe('the counters of long texts', () => {
  let vocabulary: Vocabulary;
  beforeAll(async () => void (vocabulary = await new VocabularyLoader().load('o200k_base')));

  it.each([
    ['prose', prose.repeat(1000)],
    ['JSON', json.repeat(50)],
    ['Chinese', chinese.repeat(3000)],
    ['base64', base64.repeat(40)],
    ['prose, then hex', prose.repeat(500) + hex.repeat(15)],
    ['prose and base64 by turns', (prose.repeat(5) + base64.slice(0, 1500)).repeat(75)],
    ['one letter', 'a'.repeat(150_000)],
    ['blanks', ' '.repeat(150_000)],
  ])('are at most a tenth below the exact count: %s', (_, text) => {
    const whole = text.match(/[^]{1,10000}/g)!.reduce((sum, part) => sum + countBytePairTokens(vocabulary, part), 0);
    expect(new ExactTokenCounter(vocabulary).count(text)).toBeGreaterThanOrEqual(0.9 * whole);
    expect(new EstimatedTokenCounter().count(text)).toBeGreaterThanOrEqual(0.9 * whole);
  });

  it('are exact up to 16,384 characters', () => {
    const text = prose.repeat(200).slice(0, 16_384);
    expect(new ExactTokenCounter(vocabulary).count(text)).toBe(countBytePairTokens(vocabulary, text));
  });
});
