import { expect, it } from 'vitest';
import { RepeatedTokenCounter } from './token-counter.js';

const textOf = (n: number) => `${n} `.padEnd(40, 'x');

it('counts a repeated text once, and an evicted one again', () => {
  const counted: string[] = [];
  const counter = new RepeatedTokenCounter({ isExact: true, count: (text) => counted.push(text) && text.length });
  expect([counter.isExact, counter.count(textOf(0)), counter.count(textOf(0))]).toEqual([true, 40, 40]);
  expect(counted).toEqual([textOf(0)]);
  for (let n = 1; n <= 200; n++) {
    counter.count(textOf(n));
    // A text that is used now and then stays cached.
    counter.count(textOf(0));
  }
  expect(counted).toHaveLength(201);
  counter.count(textOf(1));
  expect(counted).toHaveLength(202);
});

it('does not cache short texts', () => {
  let counted = 0;
  const counter = new RepeatedTokenCounter({ isExact: false, count: () => ++counted });
  expect([counter.count('Hi'), counter.count('Hi')]).toEqual([1, 2]);
});
