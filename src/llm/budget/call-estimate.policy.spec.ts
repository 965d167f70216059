import { expect, it } from 'vitest';
import { CallEstimate } from './call-estimate.policy.js';

const counter = { isExact: true, count: (text: string) => text.length };

function most(price: { input: number; output: number; cachedInput?: number; cacheWrite?: number }): number {
  const request = { messages: [{ role: 'user', content: 'x'.repeat(1000) }] } as const;
  const { most: amount } = new CallEstimate(request, counter, counter, 0, price);
  return amount.cost / amount.tokens;
}

it('reserves the price of a prompt that the provider writes to its cache, if that is the higher one', () => {
  const price = { input: 4, output: 8 };
  expect(most({ ...price, cacheWrite: 5 })).toBeCloseTo(most(price) * 1.25);
  expect(most({ ...price, cacheWrite: 1, cachedInput: 1 })).toBe(most(price));
});
