import { expect, it } from '@jest/globals';
import { findExpression } from './expression.parser.js';

it.each([
  ['计算 100 + 200', '100 + 200'],
  ['what is 6*7?', '6*7'],
  ['12.5 / 4', '12.5 / 4'],
  ['请算一下３×（４＋５）等于多少？', '3*(4+5)'],
  ['10 ÷ 4 = ?', '10 / 4'],
  ['100 加 200 是多少', '100 + 200'],
  ['what is 7 times 8 plus 1.', '7 * 8 + 1'],
  ['compute -3 + 5', '-3 + 5'],
  ['(1 + 2) * 3', '(1 + 2) * 3'],
  ['2^10 please', '2^10'],
  ['1,000,000 + 1', '1000000 + 1'],
])('%s', (text, expected) => expect(findExpression(text)).toBe(expected));

it.each(['hello', 'what time is it', 'on 2024-01-05', 'I have 3 cats', '- a list', '100%', '+++', ''])(
  'nothing in: %s',
  (text) => expect(findExpression(text)).toBeUndefined(),
);

it('is quick on whatever is thrown at it', () => {
  for (const piece of ['1+', '(', ' ', '1 ) ', ',123', '1--']) {
    findExpression(piece.repeat(1_000 / piece.length));
    expect(findExpression(piece.repeat(1_000_000))).toBeUndefined();
  }
});
