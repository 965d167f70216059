import { readFileSync } from 'node:fs';
import { AppError } from '../../errors/index.js';
import type { Compared, EvalComparison, EvalReport, EvalResult } from './eval-report.types.js';
import { mean, signTest } from './statistics.js';

type Measure = (result: EvalResult) => number | undefined;

/** @throws AppError `VALIDATION_FAILED` for a file that is no report */
export function readReport(path: string): EvalReport {
  try {
    const report = JSON.parse(readFileSync(path, 'utf8')) as Partial<EvalReport> | null;
    if (Array.isArray(report?.results) && typeof report.id === 'string') return report as EvalReport;
  } catch (cause) {
    throw new AppError('VALIDATION_FAILED', `${path}: the baseline cannot be read.`, { cause });
  }
  throw new AppError('VALIDATION_FAILED', `${path}: this is no report of an eval, which --report writes.`);
}

/** Compares two reports line by line: each line counts once, with the mean of its repetitions. */
export function compareReports(
  before: EvalReport,
  { results, scorers }: Pick<EvalReport, 'results' | 'scorers'>,
): EvalComparison {
  const [former, present] = [byLine(before.results), byLine(results)];
  const lines = [...present.keys()].filter((line) => former.has(line));
  const compare = (measure: Measure) => compared(lines, former, present, measure);
  const shared = Object.keys(scorers).filter((name) => name in before.scorers);
  const passed = (of: ReadonlyMap<string, readonly EvalResult[]>, line: string) => rateOf(of.get(line) ?? [], isPassed);
  return {
    baseline: before.id,
    lines: lines.length,
    passRate: compare(isPassed),
    scorers: Object.fromEntries(shared.map((name) => [name, compare((result) => result.scores[name]?.score)])),
    broken: lines.filter((line) => passed(former, line) === 1 && passed(present, line) === 0),
    fixed: lines.filter((line) => passed(former, line) === 0 && passed(present, line) === 1),
  };
}

const isPassed: Measure = (result) => (result.isPassed ? 1 : 0);

function byLine(results: readonly EvalResult[]): ReadonlyMap<string, readonly EvalResult[]> {
  return Map.groupBy(results, ({ line }) => line);
}

function rateOf(results: readonly EvalResult[], measure: Measure): number {
  return mean(results.map((result) => measure(result) ?? 0));
}

function compared(
  lines: readonly string[],
  former: ReadonlyMap<string, readonly EvalResult[]>,
  present: ReadonlyMap<string, readonly EvalResult[]>,
  measure: Measure,
): Compared {
  const pairs = lines.map(
    (line) => [rateOf(former.get(line) ?? [], measure), rateOf(present.get(line) ?? [], measure)] as const,
  );
  return {
    before: mean(pairs.map(([value]) => value)),
    after: mean(pairs.map(([, value]) => value)),
    ...signTest(pairs),
  };
}
