/** A number of a usage sum: its column in `usage_day`, and its SQL for one row of `run_usage`. */
export interface SummedColumn {
  readonly name: string;
  readonly ofCall: string;
}

const TOKENS = [
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'cost',
] as const;

/** The columns of tokens and cost; NULL where no call has the value. */
export type TokenColumn = (typeof TOKENS)[number];

export const USAGE_COLUMNS: readonly SummedColumn[] = [
  { name: 'calls', ofCall: '1' },
  ...TOKENS.map((name) => ({ name, ofCall: name })),
];

/** Upper bounds of the buckets of durations, in ms; longer calls are in one more bucket. */
export const LATENCY_BUCKETS_MS = [50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 60_000, 120_000] as const;

/** The columns of `run_usage` with durations. */
export const DURATION_COLUMNS = ['duration_ms', 'first_token_ms'] as const;

/** Of each duration: the number of calls up to each bound, and of all calls. */
export const LATENCY_COLUMNS: readonly SummedColumn[] = DURATION_COLUMNS.flatMap((column) => [
  ...LATENCY_BUCKETS_MS.map((bound, at) => ({
    name: `${column}_${at}`,
    ofCall: `CASE WHEN ${column} <= ${bound} THEN 1 ELSE 0 END`,
  })),
  { name: `${column}_all`, ofCall: `CASE WHEN ${column} IS NULL THEN 0 ELSE 1 END` },
]);
