import { describe, expect, it } from 'vitest';
import { rankByTerms } from './term-ranking.js';

const text = (id: string, words: string) => ({ id, tokens: words.split(' ') });

describe('the ranking by terms', () => {
  it('prefers rare words, then short texts, then new ones', () => {
    const texts = [
      text('a', 'the user likes tea'),
      text('b', 'the user has a cat'),
      text('c', 'the user has a red cat'),
    ];
    expect(rankByTerms(['the', 'user', 'cat'], texts)).toEqual(['b', 'c', 'a']);
    expect(rankByTerms(['the', 'user', 'likes'], texts)[0]).toBe('a');
    expect(rankByTerms(['x'], [text('a', 'x'), text('b', 'x')])).toEqual(['b', 'a']);
  });

  it('is empty without texts', () => {
    expect(rankByTerms(['x'], [])).toEqual([]);
  });
});
