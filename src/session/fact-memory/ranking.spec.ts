import { describe, expect, it } from '@jest/globals';
import { fuseRankings, rankByTerms } from './ranking.js';
import { PLAIN_CIPHER } from '../../security/index.js';
import { toTokens } from './fact-place.factory.js';

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

describe('the fusion of rankings', () => {
  it('adds up reciprocal ranks', () => {
    expect(
      fuseRankings([
        ['a', 'b'],
        ['b', 'c'],
      ]),
    ).toEqual([
      { id: 'b', score: 1 / 62 + 1 / 61 },
      { id: 'a', score: 1 / 61 },
      { id: 'c', score: 1 / 62 },
    ]);
    expect(fuseRankings([[], []])).toEqual([]);
  });
});

describe('a token in the index', () => {
  it('has sixteen letters, and differs by owner', () => {
    const ann = toTokens({ tenant: 't', user: 'ann' }, ['tea', 'tea', 'the'], PLAIN_CIPHER);
    expect(ann).toEqual([ann[0], ann[0], expect.stringMatching(/^[a-p]{16}$/)]);
    const others = [
      { tenant: 't', user: 'bob' },
      { tenant: 'x', user: 'ann' },
      { tenant: 't","ann', user: '' },
    ];
    for (const owner of others) expect(ann).not.toContain(toTokens(owner, ['tea'], PLAIN_CIPHER)[0]);
  });
});
