import { mean, type Rate, signTest } from '../../src/testing/eval/statistics';

interface Usage {
  readonly tokens: number;
  readonly cost: number;
}

/** One repetition of a line. */
export interface EvalResult {
  readonly line: string;
  /** The start of the question. */
  readonly input?: string;
  readonly repetition: number;
  readonly isPassed: boolean;
  readonly scores: Readonly<Record<string, { readonly score: number; readonly reason: string }>>;
  /** Empty for a question that the application refused. */
  readonly runId: string;
  readonly status: string;
  readonly durationMs: number;
  readonly usage: Usage;
  readonly error?: string;
}

export interface EvalFigures {
  readonly name: string;
  readonly agent?: string;
  readonly workflow?: string;
  readonly lines: number;
  readonly repeat: number;
  readonly passRate: Rate;
  readonly scorers: Readonly<Record<string, { readonly mean: number; readonly passRate: Rate }>>;
  readonly usage: Usage;
  readonly judgeUsage: Usage;
  readonly latencyMs: { readonly median: number; readonly p95: number };
  readonly gates: readonly {
    readonly gate: string;
    readonly limit: number;
    readonly actual: number;
    readonly isPassed: boolean;
  }[];
  readonly isPassed: boolean;
}

export interface StoredEval<Report = EvalFigures & { readonly results: readonly EvalResult[] }> {
  readonly id: string;
  readonly created_by: string;
  readonly created_at: number;
  readonly report: Report;
}

/** The measure of the share of passed repetitions. Others are names of scorers. */
export const PASSED = '';

/** A line of two evals. */
export interface LinePair {
  readonly line: string;
  readonly before: readonly EvalResult[];
  readonly now: readonly EvalResult[];
  /** Means of the repetitions; absent if one eval lacks the line. */
  readonly values?: readonly [before: number, now: number];
  readonly change: 'better' | 'worse' | 'same' | 'added' | 'removed';
}

function valueOf(results: readonly EvalResult[], measure: string): number {
  return mean(results.map(({ isPassed, scores }) => (measure === PASSED ? +isPassed : (scores[measure]?.score ?? 0))));
}

const ORDER = ['worse', 'better', 'removed', 'added', 'same'] as const;

/** The lines of both evals by a measure, worse ones first. */
export function pairLines(
  before: readonly EvalResult[],
  now: readonly EvalResult[],
  measure: string,
): readonly LinePair[] {
  const [former, present] = [byLine(before), byLine(now)];
  const lines = new Set([...present.keys(), ...former.keys()]);
  const pairs = [...lines].map((line): LinePair => {
    const pair = { line, before: former.get(line) ?? [], now: present.get(line) ?? [] };
    if (pair.before.length === 0) return { ...pair, change: 'added' };
    if (pair.now.length === 0) return { ...pair, change: 'removed' };
    const values = [valueOf(pair.before, measure), valueOf(pair.now, measure)] as const;
    const change = values[1] === values[0] ? 'same' : values[1] > values[0] ? 'better' : 'worse';
    return { ...pair, values, change };
  });
  return pairs.toSorted((a, b) => ORDER.indexOf(a.change) - ORDER.indexOf(b.change));
}

function byLine(results: readonly EvalResult[]): ReadonlyMap<string, readonly EvalResult[]> {
  const lines = new Map<string, EvalResult[]>();
  for (const result of results) {
    const known = lines.get(result.line);
    if (known) known.push(result);
    else lines.set(result.line, [result]);
  }
  return lines;
}

/** The figures of a comparison, over the lines of both evals, with the exact sign test at 5 %. */
export function compareFigures(pairs: readonly LinePair[]) {
  const values = pairs.flatMap((pair) => (pair.values ? [pair.values] : []));
  return {
    ...signTest(values),
    lines: values.length,
    before: mean(values.map(([before]) => before)),
    now: mean(values.map(([, now]) => now)),
  };
}
