import type { EvalUsage, Score } from './eval.types.js';
import type { Direction, Rate } from './statistics.js';

/** One repetition of a line. */
export interface EvalResult {
  readonly line: string;
  /** The start of the question, or of the input of the workflow as JSON. */
  readonly input: string;
  /** From 1. */
  readonly repetition: number;
  readonly isPassed: boolean;
  readonly scores: Readonly<Record<string, Score>>;
  readonly runId: string;
  readonly status: string;
  readonly text: string;
  readonly durationMs: number;
  readonly steps: number;
  readonly usage: EvalUsage;
  /** Code and message of a failed run, or of a scorer's error. */
  readonly error?: string;
}

export interface ScorerSummary {
  readonly mean: number;
  /** The share of repetitions whose score is at least the scorer's `passAt`. */
  readonly passRate: Rate;
}

/** A figure beside that of the baseline, over the lines of both. */
export interface Compared {
  readonly before: number;
  readonly after: number;
  /** Number of lines whose value is higher, and lower. */
  readonly higher: number;
  readonly lower: number;
  /** Of the sign test. */
  readonly p: number;
  readonly verdict: Direction;
}

export interface EvalComparison {
  readonly baseline: string;
  /** Number of lines of both evals. */
  readonly lines: number;
  readonly passRate: Compared;
  readonly scorers: Readonly<Record<string, Compared>>;
  /** Lines whose repetitions all passed before, and all fail now. */
  readonly broken: readonly string[];
  /** The reverse. */
  readonly fixed: readonly string[];
}

export interface GateOutcome {
  /** Such as `passRate` or `scorers.exact`. */
  readonly gate: string;
  readonly limit: number;
  readonly actual: number;
  readonly isPassed: boolean;
}

/** The report of an eval. As a file it is the baseline of a later one. */
export interface EvalReport {
  readonly name: string;
  readonly id: string;
  /** Name of the agent; absent for the default agent, and for a workflow. */
  readonly agent?: string;
  readonly workflow?: string;
  /** Hash of its definition. */
  readonly revision: string;
  readonly startedAt: string;
  readonly lines: number;
  readonly repeat: number;
  /** The share of passed repetitions. */
  readonly passRate: Rate;
  readonly scorers: Readonly<Record<string, ScorerSummary>>;
  readonly usage: EvalUsage;
  /** Of the scorers. */
  readonly judgeUsage: EvalUsage;
  readonly latencyMs: { readonly median: number; readonly p95: number };
  readonly gates: readonly GateOutcome[];
  /** Whether all gates are passed. */
  readonly isPassed: boolean;
  readonly comparison?: EvalComparison;
  readonly results: readonly EvalResult[];
}
