import { AppError } from '../../errors/index.js';
import { isJsonObject } from '../../kernel/json/index.js';
import { nearNames } from '../../kernel/text/index.js';
import type { EvalReport, GateOutcome } from './eval-report.types.js';

/** Limits of an eval; without any, it passes. */
export interface EvalGates {
  /** Least share of passed repetitions, 0 to 1. */
  readonly passRate?: number;
  /** Least share of repetitions that pass a scorer, by its name. */
  readonly scorers?: Readonly<Record<string, number>>;
  /** Cost of the runs and the judges, in the unit of `LLM_PRICES`. */
  readonly maxCost?: number;
  /** Number of figures (pass rate, scorers) that are worse than in the baseline beyond the noise. */
  readonly maxWorse?: number;
  /** Number of lines that always passed in the baseline, and always fail now. */
  readonly maxBroken?: number;
}

const NAMES = ['passRate', 'scorers', 'maxCost', 'maxWorse', 'maxBroken'];

/** @param scorers names of the eval's scorers @throws AppError `VALIDATION_FAILED` for a gate without effect */
export function assertGates(gates: EvalGates, scorers: readonly string[], hasBaseline: boolean): void {
  assertNames(Object.keys(gates), NAMES);
  assertNames(Object.keys(gates.scorers ?? {}), scorers);
  const limits = Object.entries({ ...gates, ...gates.scorers }).filter(([name]) => name !== 'scorers');
  const wrong = limits.find(([, limit]) => typeof limit !== 'number' || !(limit >= 0));
  if (wrong || (gates.scorers !== undefined && !isJsonObject(gates.scorers)))
    throw fail(`"${wrong?.[0] ?? 'scorers'}" must be a number from 0`);
  if (!hasBaseline && (gates.maxWorse !== undefined || gates.maxBroken !== undefined))
    throw fail('"maxWorse" and "maxBroken" need a baseline: give the report of an earlier eval');
}

function fail(fault: string): AppError {
  return new AppError('VALIDATION_FAILED', `gates: ${fault}.`);
}

function assertNames(names: readonly string[], known: readonly string[]): void {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const [near] = nearNames(unknown, known);
  throw fail(`"${unknown}" is unknown; ${near ? `did you mean "${near}"` : `known are ${known.join(', ')}`}`);
}

/** The outcome of each gate. */
export function decideGates(gates: EvalGates, report: Omit<EvalReport, 'gates' | 'isPassed'>): GateOutcome[] {
  const { comparison, passRate, scorers, usage, judgeUsage } = report;
  const figures = comparison ? [comparison.passRate, ...Object.values(comparison.scorers)] : [];
  const worse = figures.filter(({ verdict }) => verdict === 'worse').length;
  return [
    ...least('passRate', gates.passRate, passRate.rate),
    ...Object.entries(gates.scorers ?? {}).flatMap(([name, limit]) =>
      least(`scorers.${name}`, limit, scorers[name]?.passRate.rate ?? 0),
    ),
    ...most('maxCost', gates.maxCost, usage.cost + judgeUsage.cost),
    ...most('maxWorse', gates.maxWorse, worse),
    ...most('maxBroken', gates.maxBroken, comparison?.broken.length ?? 0),
  ];
}

function least(gate: string, limit: number | undefined, actual: number): GateOutcome[] {
  return limit === undefined ? [] : [{ gate, limit, actual, isPassed: actual >= limit }];
}

function most(gate: string, limit: number | undefined, actual: number): GateOutcome[] {
  return limit === undefined ? [] : [{ gate, limit, actual, isPassed: actual <= limit }];
}
