import { describe, expect, it } from 'vitest';
import { fuseRankings } from './ranking.js';
import { PLAIN_CIPHER } from '../../security/encryption/index.js';
import { toTokens } from './fact-place.factory.js';

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
