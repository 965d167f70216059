import { describe, expect, it } from 'vitest';
import { checkUsage } from './reply.parser.js';

describe('checkUsage', () => {
  it.each<[string, object, readonly [prompt: number, completion: number, total: number]]>([
    ['counts that add up', { promptTokens: 50, completionTokens: 400, totalTokens: 450 }, [50, 400, 450]],
    ['a total of 0', { promptTokens: 50, completionTokens: 400, totalTokens: 0 }, [50, 400, 450]],
    ['a total below its parts', { promptTokens: 50, completionTokens: 400, totalTokens: 60 }, [50, 400, 450]],
    ['no total', { promptTokens: 50, completionTokens: 400 }, [50, 400, 450]],
    ['reasoning in the total alone', { promptTokens: 50, completionTokens: 10, totalTokens: 560 }, [50, 510, 560]],
    [
      'more reasoning than completion',
      { promptTokens: 50, completionTokens: 10, reasoningTokens: 500 },
      [50, 510, 560],
    ],
    ['the prompt and the total', { promptTokens: 50, totalTokens: 450 }, [50, 400, 450]],
    ['the completion and the total', { completionTokens: 400, totalTokens: 450 }, [50, 400, 450]],
    ['the prompt alone', { promptTokens: 50 }, [50, 0, 50]],
    ['the completion alone', { completionTokens: 400 }, [0, 400, 400]],
    ['a negative total', { promptTokens: 50, completionTokens: 400, totalTokens: -1 }, [50, 400, 450]],
    ['a total that is not a number', { promptTokens: 50, completionTokens: 400, totalTokens: '9' }, [50, 400, 450]],
    ['a total that is absurd', { promptTokens: 50, completionTokens: 400, totalTokens: 1e15 }, [50, 400, 450]],
    ['fractions', { promptTokens: 49.5, completionTokens: 400 }, [50, 400, 450]],
  ])('makes the counts consistent for %s', (_what, reported, [promptTokens, completionTokens, totalTokens]) => {
    expect(checkUsage(reported)).toMatchObject({ promptTokens, completionTokens, totalTokens });
  });

  it.each<[string, object]>([
    ['nothing', {}],
    ['zeros', { promptTokens: 0, completionTokens: 0, totalTokens: 0 }],
    ['texts', { promptTokens: '50', completionTokens: '400', totalTokens: '450' }],
    ['negative numbers', { promptTokens: -50, completionTokens: -400, totalTokens: -450 }],
    ['NaN and infinity', { promptTokens: Number.NaN, completionTokens: Number.POSITIVE_INFINITY }],
    ['null and lists', { promptTokens: null, completionTokens: [400], totalTokens: {} }],
    ['absurd numbers', { promptTokens: 1e15, completionTokens: 1e300 }],
  ])('ignores %s', (_what, reported) => {
    expect(checkUsage(reported)).toBeUndefined();
  });

  it('limits cached tokens by the prompt and reasoning by the completion', () => {
    const counts = { promptTokens: 50, completionTokens: 400 };
    expect(checkUsage({ ...counts, cachedTokens: 99, reasoningTokens: 400 })).toEqual({
      ...counts,
      totalTokens: 450,
      cachedTokens: 50,
      reasoningTokens: 400,
    });
    expect(checkUsage({ ...counts, cachedTokens: 30, cacheWriteTokens: 99 })).toMatchObject({ cacheWriteTokens: 20 });
    expect(checkUsage({ ...counts, cachedTokens: -1, reasoningTokens: 'some' })).toEqual({
      ...counts,
      totalTokens: 450,
    });
  });
});
