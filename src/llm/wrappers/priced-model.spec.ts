import { expect, it } from 'vitest';
import { readStream } from '../../../test/support/fake-llm-stream.js';
import { REQUEST } from '../../../test/support/faulty-models.js';
import { says, ScriptedChatModel } from '../../../test/support/scripted-chat-model.js';
import { assertPriced, costOf, priceOf, roundCost } from '../models/model-facts.js';
import { PricedModel } from './priced-model.wrapper.js';

const PRICE = { input: 2, output: 10, cachedInput: 0.5 };
const USAGE = { promptTokens: 1000, completionTokens: 100, totalTokens: 1100 };

it('costs the price of its tokens, with a separate price for cached ones', () => {
  expect(costOf(USAGE, PRICE)).toBe(0.003);
  expect(costOf({ ...USAGE, cachedTokens: 600 }, PRICE)).toBe(0.0021);
  expect(costOf({ ...USAGE, cachedTokens: 600 }, { input: 2, output: 10 })).toBe(0.003);
  expect(costOf({ promptTokens: 1, completionTokens: 0, totalTokens: 1 }, { input: 0.000123, output: 0 })).toBe(0);
  expect([roundCost(0.1 + 0.2), roundCost(undefined)]).toEqual([0.3, undefined]);
});

it('has a price of cache writes: 1.25 times the input if the provider charges for them', () => {
  const prices = { 'claude-haiku-5-5': PRICE, 'gpt-4o': PRICE, own: { ...PRICE, cacheWrite: 3 } };
  const writes = { ...USAGE, cachedTokens: 400, cacheWriteTokens: 600 };
  const costs = Object.keys(prices).map((name) => costOf(writes, priceOf({ provider: 'p', name }, { prices })!));
  expect(costs).toEqual([0.0027, 0.0024, 0.003]);
});

it('has the list price of its table only where it is permitted, for its own provider and exact name', () => {
  const list = { prices: { 'gpt-5-mini': PRICE }, hasListPrices: true };
  const luna = { provider: 'openai', name: 'gpt-5.6-luna' };
  expect(priceOf(luna, { ...list, hasListPrices: false })).toBeUndefined();
  expect(priceOf(luna, list)).toEqual({ input: 0.2, output: 1.2, cachedInput: 0.02, cacheWrite: 0.25 });
  expect(priceOf({ provider: 'openai', name: 'gpt-5-mini' }, list)).toEqual(PRICE);
  for (const other of [
    { ...luna, provider: 'openai-compatible' },
    { ...luna, name: 'gpt-5.6-luna-1' },
  ]) {
    expect(priceOf(other, list)).toBeUndefined();
    expect(() => assertPriced([luna, other], list)).toThrow(
      `the model ${other.name} of ${other.provider} has no price`,
    );
  }
});

it('adds the cost to the usage, and nothing without usage', async () => {
  const { usage: _none, ...silent } = says('b');
  const model = new PricedModel(new ScriptedChatModel([says('a', { usage: USAGE }), silent, says('c')]), PRICE);
  expect((await model.generate(REQUEST)).usage).toEqual({ ...USAGE, cost: 0.003 });
  expect(await model.generate(REQUEST)).not.toHaveProperty('usage');
  const parts = await readStream(model.stream(REQUEST));
  expect(parts.at(-1)).toMatchObject({ type: 'finish', result: { usage: { cost: 0.00007 } } });
});
