import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { indexTerms, queryTerms } from './term.parser.js';

describe('the terms of a text', () => {
  it.each([
    ['The user likes green tea.', ['the', 'user', 'like', 'green', 'tea']],
    ["The user's allergies: nuts, 5G & C++", ['the', 'user', 'allergy', 'nut', '5g', 'c']],
    ['Café CAFÉ ｃａｆｅ', ['cafe', 'cafe', 'cafe']],
    ['Straße Größe', ['straße', 'große']],
    ['喜欢绿茶', ['喜', '欢', '绿', '茶', '喜欢', '欢绿', '绿茶']],
    ['iPhone手机', ['iphone', '手', '机', '手机']],
    ['コーヒー、が', ['コ', 'ー', 'ヒ', 'ー', 'コー', 'ーヒ', 'ヒー', 'が']],
    ['हिन्दी Ελλάδα', ['हिन्दी', 'ελλαδα']],
    ['"* AND (NEAR) -', ['and', 'near']],
    ['🐦 !?', []],
  ])('are indexed: %s', (text, terms) => {
    expect(indexTerms(text)).toEqual(terms);
  });

  it.each([
    ['绿茶', ['绿茶']],
    ['茶', ['茶']],
    ['tea 喜欢绿 tea teas', ['tea', '喜欢', '欢绿']],
  ])('are queried: %s', (query, terms) => {
    expect(queryTerms(query, 10)).toEqual(terms);
  });

  it('are limited in number in a query', () => {
    expect(queryTerms('one two three four', 3)).toEqual(['one', 'two', 'three']);
    expect(queryTerms('一二三四五', 2)).toHaveLength(2);
  });

  it('are found in the index of the text, also the terms of its single words', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (text) => {
        const known = new Set(indexTerms(text));
        for (const part of [text, ...text.split(' ')])
          expect(queryTerms(part, 99).every((term) => known.has(term))).toBe(true);
      }),
    );
  });
});
