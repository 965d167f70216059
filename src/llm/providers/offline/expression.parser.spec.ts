import { expect, it } from 'vitest';
import { findArithmetic } from './expression.parser.js';

const found = (text: string, previous?: string) => findArithmetic(text, previous).expressions;

it.each([
  ['计算 100 + 200', '100 + 200'],
  ['what is 6*7?', '6*7'],
  ['12.5 / 4', '12.5 / 4'],
  ['请算一下３×（４＋５）等于多少？', '3*(4+5)'],
  ['10 ÷ 4 = ?', '10 / 4'],
  ['100 加 200 是多少', '100 + 200'],
  ['what is 7 times 8 plus 1.', '7 * 8 + 1'],
  ['compute -3 + 5', '-3 + 5'],
  ['-3 + 5', '-3 + 5'],
  ['(1 + 2) * 3', '(1 + 2) * 3'],
  ['2^10 please', '2^10'],
  ['1,000,000 + 1', '1000000 + 1'],
  ['(I mean 2+2)', '2+2'],
  ['one hundred and five minus twenty-one', '105 - 21'],
  ['a hundred times two', '100 * 2'],
  ['two million three hundred thousand plus one', '2300000 + 1'],
  ['three point five times two', '3.5 * 2'],
  ['negative five plus three', '-5 + 3'],
  ['一百二十三加四十五', '123+45'],
  ['两千零五减一百二', '2005-120'],
  ['一万二加三点五', '12000+3.5'],
  ['3万加2', '30000+2'],
  ['一亿零三百除以十', '100000300/10'],
  ['八十的百分之十五', '80 * 15%'],
  ['15 percent of 80', '15% * 80'],
  ['5² + 3³', '5^2 + 3^3'],
  ['3 x 4', '3 * 4'],
  ['100 加 200 再乘以 3', '(100 + 200) * 3'],
  ['2 plus 3 then times 4', '(2 + 3) * 4'],
  ['27 的立方根', '27^(1/3)'],
  ['add 3 and 4', '3 + 4'],
  ['subtract 3 from ten', '10 - 3'],
  ['3 和 4 的积', '3 * 4'],
  ['half of 9', '9 / 2'],
  ['2e3+1', '2e3+1'],
  ['1.5E-3 * 2', '1.5e-3 * 2'],
  ['abs(-5) + 1', 'abs(-5) + 1'],
  ['what is min(3, 4)?', 'min(3, 4)'],
  ['计算 abs(min(-1, 2)) * 3', 'abs(min(-1, 2)) * 3'],
  ['max(sqrt(16), 3) + 1', 'max(16^0.5, 3) + 1'],
])('finds the expression in: %s', (text, expected) => expect(found(text)).toEqual([expected]));

it('finds several expressions', () => {
  expect(found('计算 1+1 和 2*3')).toEqual(['1+1', '2*3']);
  expect(found('1+1 2*3, 4-4')).toEqual(['1+1', '2*3', '4-4']);
});

it.each(['f(3) + 1', 'x2 + 1', 'version v1.2-3'])('finds no expression after a letter: %s', (text) =>
  expect(found(text)).toEqual([]),
);

it.each([
  ['times 3', '7 * 3'],
  ['and times 3?', '7 * 3'],
  ['再乘以 3', '7 * 3'],
  ['那么再加上十呢？', '7 + 10'],
  ['plus 10', '7 + 10'],
  ['minus 2 plus 1', '7 - 2 + 1'],
  ['-5', '7 - 5'],
  ['squared?', '7 ^ 2'],
  ['then divide by 2', '7 / 2'],
  ['what is that times 3', '7 * 3'],
  ['double it', '2 * 7'],
  ['它的平方', '7^2'],
  ['结果除以 2', '7 / 2'],
  ['square root of that', '7^0.5'],
  ['-3 + 5', '-3 + 5'],
  ['1+1', '1+1'],
])('continues from 7: %s', (text, expected) => expect(found(text, '7')).toEqual([expected]));

it('puts a negative number into parentheses', () => expect(found('times 3', '-7')).toEqual(['(-7) * 3']));

it('reports a missing previous result', () => {
  expect(findArithmetic('times 3')).toEqual({ expressions: [], lacksPrevious: true });
  expect(findArithmetic('再减 3')).toEqual({ expressions: [], lacksPrevious: true });
});

it.each([
  'hello',
  'what time is it',
  'on 2024-01-05',
  'I have 3 cats',
  '- a list',
  '100%',
  '+++',
  '',
  'one of a kind',
  '一个人',
])('finds nothing in: %s', (text) => expect(findArithmetic(text)).toEqual({ expressions: [], lacksPrevious: false }));
