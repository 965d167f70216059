/** A share of passed trials, with its 95 % interval. */
export interface Rate {
  readonly passed: number;
  readonly total: number;
  /** From 0 to 1; 0 without trials. */
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

/** The normal quantile of a two-sided 95 % interval. */
const Z = 1.959963984540054;
/** Level of the sign test. */
const LEVEL = 0.05;

/**
 * The score interval of a proportion at 95 %. It is never empty, also for 0 and 1, and suits few trials.
 * Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927), 209–212.
 */
export function wilson(passed: number, total: number): Rate {
  if (total === 0) return { passed, total, rate: 0, low: 0, high: 1 };
  const rate = passed / total;
  const squared = Z ** 2;
  const centre = rate + squared / (2 * total);
  const spread = Z * Math.sqrt((rate * (1 - rate)) / total + squared / (4 * total ** 2));
  const scale = 1 + squared / total;
  return {
    passed,
    total,
    rate,
    low: passed === 0 ? 0 : (centre - spread) / scale,
    high: passed === total ? 1 : (centre + spread) / scale,
  };
}

export type Direction = 'better' | 'worse' | 'within noise';

/**
 * Compares pairs of values by the exact two-sided sign test at 5 %; with values 0 and 1 it is McNemar's exact test. Each
 * pair is one line, so that repetitions of a line, which resemble each other, do not count as independent.
 * Source: Q. McNemar, Note on the sampling error of the difference between correlated proportions or percentages,
 * Psychometrika 12 (1947), 153–157.
 */
export function signTest(pairs: readonly (readonly [before: number, after: number])[]): {
  readonly higher: number;
  readonly lower: number;
  readonly p: number;
  readonly verdict: Direction;
} {
  const higher = pairs.filter(([before, after]) => after > before).length;
  const lower = pairs.filter(([before, after]) => after < before).length;
  const p = Math.min(1, 2 * binomialTail(Math.min(higher, lower), higher + lower));
  const direction = higher > lower ? 'better' : 'worse';
  return { higher, lower, p, verdict: p < LEVEL ? direction : 'within noise' };
}

/** The probability of at most `most` heads in `n` throws of a fair coin, computed in logarithms. */
function binomialTail(most: number, n: number): number {
  let logChoose = 0;
  let sum = 0;
  for (let heads = 0; heads <= most; heads++) {
    if (heads > 0) logChoose += Math.log(n - heads + 1) - Math.log(heads);
    sum += Math.exp(logChoose - n * Math.LN2);
  }
  return sum;
}

/** The value below which a share of the values lies; 0 without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
