import { expect, it } from 'vitest';
import { defaultMaxTokens, generationOf, thinksByDefault } from './capabilities.mapper.js';

it.each([
  ['claude-haiku-5-5', 5.5],
  ['claude-opus-5', 5],
  ['claude-sonnet-4-5-20250929', 4.5],
  ['anthropic/claude-sonnet-4.5', 4.5],
  ['us.anthropic.claude-opus-4-20250514-v1:0', 4],
  ['claude-3-5-haiku-20241022', 3.5],
  ['claude-3-opus-20240229', 3],
  ['claude-2.1', 2.1],
  ['claude-next', 99],
  ['deepseek-v4-flash', undefined],
])('%s is of generation %s', (model, generation) => {
  expect(generationOf(model)).toBe(generation);
});

it('limits max_tokens to a reply that fits the time limit', () => {
  const models = ['claude-opus-5', 'claude-sonnet-4-5', 'claude-3-5-haiku-20241022', 'claude-3-opus-20240229', 'other'];
  expect(models.map(defaultMaxTokens)).toEqual([32_000, 32_000, 8192, 4096, 8192]);
  expect(models.map(thinksByDefault)).toEqual([true, false, false, false, false]);
});
