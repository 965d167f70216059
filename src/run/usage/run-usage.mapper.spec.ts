import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../event/run-event.types.js';
import { addUsage, toRunUsage, toUsage } from './run-usage.mapper.js';

const plain = { promptTokens: 10, completionTokens: 5, totalTokens: 15 };
const whole = { ...plain, cachedTokens: 4, reasoningTokens: 2 };

describe('usage in its wire form', () => {
  it('contains only known fields', () => {
    expect(toRunUsage(plain)).toEqual({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 });
    expect(toRunUsage(whole)).toMatchObject({ cached_tokens: 4, reasoning_tokens: 2 });
    expect([toUsage(toRunUsage(plain)), toUsage(toRunUsage(whole))]).toEqual([plain, whole]);
  });

  it('sums the fields that either usage has', () => {
    expect(addUsage(NO_USAGE, toRunUsage(plain))).toEqual(toRunUsage(plain));
    expect(addUsage(toRunUsage(plain), toRunUsage(whole))).toEqual({
      prompt_tokens: 20,
      completion_tokens: 10,
      total_tokens: 30,
      cached_tokens: 4,
      reasoning_tokens: 2,
    });
  });
});
