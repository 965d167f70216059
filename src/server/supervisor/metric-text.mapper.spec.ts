import { describe, expect, it } from 'vitest';
import { mergeMetrics } from './metric-text.mapper.js';

const textOf = (value: number) =>
  `# HELP a_total Counts.\n# TYPE a_total counter\na_total ${value}\n# HELP b Is.\n# TYPE b gauge\nb{x="{ }",y="1"} ${value}\nb{x="2",y=""} 0\n`;

describe('mergeMetrics', () => {
  it('has each metric once, with a series of each worker', () => {
    expect(
      mergeMetrics([
        [1, textOf(5)],
        [3, textOf(6)],
      ]),
    ).toBe(
      [
        '# HELP a_total Counts.',
        '# TYPE a_total counter',
        'a_total{worker="1"} 5',
        'a_total{worker="3"} 6',
        '# HELP b Is.',
        '# TYPE b gauge',
        'b{worker="1",x="{ }",y="1"} 5',
        'b{worker="1",x="2",y=""} 0',
        'b{worker="3",x="{ }",y="1"} 6',
        'b{worker="3",x="2",y=""} 0',
        '',
      ].join('\n'),
    );
  });

  it('is empty without a worker', () => {
    expect(mergeMetrics([])).toBe('');
  });
});
