import { expect, it } from 'vitest';
import { budget } from './budget.parser.js';

it.each([
  ['tokens=100000', { tokens: 100_000 }],
  ['cost=.5', { cost: 0.5 }],
  ['tokens=1, cost=2.000000001', { tokens: 1, cost: 2.000000001 }],
])('reads %j', (text, expected) => {
  expect(budget().parse(text)).toEqual(expected);
});

it.each(['100', 'tokens=1.5', 'tokens=-1', 'tokens=1,tokens=2', 'cost=', 'cost=1000001', 'cost=1e3', 'tokens=1,'])(
  'refuses %j',
  (text) => {
    expect(() => budget().parse(text)).toThrow('tokens=<integer>');
  },
);
