import { beforeAll, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import cl100k from 'gpt-tokenizer/bpeRanks/cl100k_base';
import { inventedTexts } from '../../../test/support/invented-texts.js';
import { sampleTexts } from '../../../test/support/sample-texts.js';
import { countBytePairTokens } from './byte-pair.engine.js';
import { PieceRegistry } from './piece.registry.js';
import { NO_RANK } from './rank.registry.js';
import { type Vocabulary, VocabularyLoader } from './vocabulary.loader.js';

const TEXT = Object.values({ ...sampleTexts(), ...inventedTexts() }).join('\n');

describe('the pieces', () => {
  const pieces = new PieceRegistry();
  const vocabularies: Vocabulary[] = [];
  beforeAll(async () => {
    const loader = new VocabularyLoader();
    vocabularies.push(await loader.load('o200k_base'), await loader.load('cl100k_base'));
  });
  const isToken = (text: string) => {
    const bytes = Buffer.from(text);
    return vocabularies.every(({ ranks }) => ranks.find(bytes, 0, bytes.length) !== NO_RANK);
  };

  it('are tokens of both vocabularies', () => {
    const found = new Set<string>();
    for (let i = 0; i < TEXT.length; i++) found.add(TEXT.slice(i, i + pieces.longestAt(TEXT, i)));
    found.delete('');
    expect(found.size).toBeGreaterThan(5000);
    expect([...found].filter((piece) => !isToken(piece))).toEqual([]);
  });

  it('contain all non-ASCII words of both vocabularies, and the most frequent ASCII words', () => {
    const tokens = cl100k.filter((token) => typeof token === 'string').filter(isToken);
    // Of one repeated character, byte-pair encoding takes two even if three are also a token.
    const words = tokens.filter((token) => !/^(.)\1+$/.test(token));
    const foreign = words.filter((token) => /^ ?[\u0080-\uffff]{1,15}$/.test(token));
    const frequent = words.slice(0, 20_000).filter((token) => /^ ?[a-z]{2,14}$/i.test(token));
    expect(Math.min(foreign.length, frequent.length)).toBeGreaterThan(2500);
    expect([...foreign, ...frequent].filter((token) => pieces.longestAt(token, 0) !== token.length)).toEqual([]);
  });

  it('match the longest piece, and nothing if no piece starts there', () => {
    expect(pieces.longestAt('a function(', 1)).toBe(' function'.length);
    expect(pieces.longestAt('functionx', 0)).toBe('function'.length);
    expect([pieces.longestAt('7', 0), pieces.longestAt('\n', 0), pieces.longestAt('\ud83d', 0)]).toEqual([0, 0, 0]);
  });

  it('leave characters with the cost of the less efficient vocabulary', () => {
    const character = fc.integer({ min: 0x250, max: 0x2_ffff }).map((code) => String.fromCodePoint(code));
    const leftOver = character.filter((text) => /\P{Surrogate}/u.test(text) && pieces.longestAt(text, 0) === 0);
    fc.assert(
      fc.property(leftOver, (text) => {
        const tokens = Math.max(...vocabularies.map((vocabulary) => countBytePairTokens(vocabulary, text)));
        expect(Math.abs(pieces.tokensApart(text.codePointAt(0)!) - tokens)).toBeLessThanOrEqual(1);
      }),
      { numRuns: 500 },
    );
  });
});
