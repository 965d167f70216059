import { type DURATION_COLUMNS, LATENCY_BUCKETS_MS } from './summed-column.js';

/** A histogram of durations. */
export interface Latency {
  /** Number of calls with a known duration. */
  readonly calls: number;
  /** Calls per bucket: those up to each of `LATENCY_BUCKETS_MS`, then the longer ones. */
  readonly counts: readonly number[];
  /** Estimated percentiles, in ms, linear within a bucket; the last bound for longer ones. `null` without calls. */
  readonly percentiles: {
    readonly p50: number;
    readonly p90: number;
    readonly p95: number;
    readonly p99: number;
  } | null;
}

/** The durations of model calls, and their times to the first text. */
export interface CallLatency {
  readonly duration: Latency;
  /** Of streamed replies with a text. */
  readonly firstToken: Latency;
}

/** The durations of the calls of a day, a session, an agent, a model. */
export interface LatencyEntry extends CallLatency {
  readonly key: string;
}

/** Sums are numbers or texts, depending on the database; `null` without rows. */
export type LatencyRow = Readonly<Record<string, number | string | null>>;

export function toCallLatency(row: LatencyRow): CallLatency {
  return { duration: toLatency(row, 'duration_ms'), firstToken: toLatency(row, 'first_token_ms') };
}

function toLatency(row: LatencyRow, column: (typeof DURATION_COLUMNS)[number]): Latency {
  const calls = Number(row[`${column}_all`]);
  const upTo = [...LATENCY_BUCKETS_MS.map((_, at) => Number(row[`${column}_${at}`])), calls];
  const counts = upTo.map((count, at) => count - (upTo[at - 1] ?? 0));
  if (calls === 0) return { calls, counts, percentiles: null };
  const [p50, p90, p95, p99] = [0.5, 0.9, 0.95, 0.99].map((share) => percentile(counts, calls * share)) as [
    number,
    number,
    number,
    number,
  ];
  return { calls, counts, percentiles: { p50, p90, p95, p99 } };
}

/** @param rank number of calls that are not longer, from 0 */
function percentile(counts: readonly number[], rank: number): number {
  let before = 0;
  for (const [at, upper] of LATENCY_BUCKETS_MS.entries()) {
    const count = counts[at]!;
    const lower = LATENCY_BUCKETS_MS[at - 1] ?? 0;
    if (count > 0 && before + count >= rank) return Math.round(lower + ((upper - lower) * (rank - before)) / count);
    before += count;
  }
  return LATENCY_BUCKETS_MS.at(-1)!;
}
