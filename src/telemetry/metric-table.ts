import { GEN_AI, GEN_AI_BUCKETS } from './gen-ai-names.js';

/** A metric and its labels. */
export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Labels with few values, which this table lists. */
  readonly fixed?: Readonly<Record<string, readonly string[]>>;
  /** Labels with values from outside, such as names of agents. */
  readonly open?: readonly string[];
  /** Combinations of the values from outside that have series of their own; further ones count as `other`. */
  readonly limit?: number;
  /** Upper bounds of a histogram, ascending. */
  readonly buckets?: readonly number[];
}

const SHORT_BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 1, 5, 10, 60];
const LONG_BUCKETS = [0.01, 0.05, 0.2, 1, 5, 10, 30, 60, 300];
const EVENT_LOOP = 'Delay of the event loop since the last scrape';

const counter = (help: string, labels: Partial<MetricDefinition> = {}) =>
  ({ type: 'counter', help, ...labels }) as const;
const gauge = (help: string, labels: Partial<MetricDefinition> = {}) => ({ type: 'gauge', help, ...labels }) as const;
const histogram = (help: string, buckets: readonly number[], labels: Partial<MetricDefinition> = {}) =>
  ({ type: 'histogram', help, buckets, ...labels }) as const;

/** All metrics, in the order of the output. Together they have at most `MAX_SERIES` series. */
export const METRICS = {
  jackdaw_runs_total: counter('Ended runs.', {
    fixed: { status: ['completed', 'failed', 'cancelled'] },
    open: ['agent'],
    limit: 30,
  }),
  jackdaw_run_failures_total: counter('Failed runs by code of the error.', { open: ['code'], limit: 19 }),
  jackdaw_runs_active: gauge('Runs that this process executes.'),
  jackdaw_capacity_waiting: gauge('Requests that wait for capacity in this process.'),
  jackdaw_queue_depth: gauge('Queued runs in the database, of all processes, at most 10000.'),
  jackdaw_runs_waiting: gauge('Runs in the database that wait for a person, of all processes, at most 10000.'),
  jackdaw_runs_waiting_oldest_seconds: gauge('Time since the start of the longest wait for a person.'),
  jackdaw_queue_delay_seconds: histogram('Time from the creation of a run to its start.', LONG_BUCKETS),
  [GEN_AI.clientDuration]: histogram('Duration of a call of a model, without retries.', GEN_AI_BUCKETS, {
    open: [GEN_AI.operation, GEN_AI.provider, GEN_AI.model],
    limit: 14,
  }),
  [GEN_AI.timeToFirstChunk]: histogram('Time to the first part of a streamed reply.', GEN_AI_BUCKETS, {
    open: [GEN_AI.provider, GEN_AI.model],
    limit: 9,
  }),
  jackdaw_model_errors_total: counter('Failed calls of models by code of the error.', {
    open: ['provider', 'code'],
    limit: 29,
  }),
  jackdaw_model_retries_total: counter('Retries of calls of models.', { open: ['provider'], limit: 9 }),
  jackdaw_model_fallbacks_total: counter('Calls that another model took over.', { open: ['from', 'to'], limit: 14 }),
  jackdaw_model_cached_total: counter('Replies from the cache.'),
  jackdaw_circuit_open: gauge('Whether the circuit of a model is open, 0.5 while it is half open.', {
    open: ['provider', 'model'],
    limit: 14,
  }),
  jackdaw_tokens_total: counter('Tokens of calls of models; input contains cached, output contains reasoning.', {
    fixed: { kind: ['input', 'output', 'cached', 'reasoning'] },
    open: ['model'],
    limit: 14,
  }),
  jackdaw_cost_total: counter('Cost of calls of models with a price, in the unit of LLM_PRICES.', {
    open: ['model'],
    limit: 14,
  }),
  jackdaw_budget_remaining_ratio: gauge('Unused share of a budget of the present day; agent is empty for the server.', {
    fixed: { unit: ['tokens', 'cost'] },
    open: ['agent'],
    limit: 14,
  }),
  jackdaw_tool_duration_seconds: histogram('Duration of a call of a tool.', LONG_BUCKETS, {
    open: ['tool'],
    limit: 14,
  }),
  jackdaw_tool_errors_total: counter('Failed calls of tools.', { open: ['tool'], limit: 14 }),
  jackdaw_mcp_server_up: gauge('Whether an enabled MCP server is connected.', { open: ['server'], limit: 29 }),
  jackdaw_storage_up: gauge('Whether the database accepts calls.'),
  jackdaw_commit_duration_seconds: histogram('Duration of a commit to the database.', SHORT_BUCKETS),
  jackdaw_spans_total: counter('Spans that the collector of traces accepted, and spans that were dropped.', {
    fixed: { outcome: ['exported', 'dropped'] },
  }),
  jackdaw_webhook_requests_total: counter('Requests to webhooks by outcome; a retried one is sent again later.', {
    fixed: { outcome: ['delivered', 'retried', 'failed'] },
  }),
  jackdaw_schedule_times_total: counter('Times of schedules by outcome.', {
    fixed: { outcome: ['started', 'skipped', 'missed', 'failed'] },
  }),
  jackdaw_info: gauge('The version of Jackdaw.', { open: ['version'], limit: 1 }),
  nodejs_eventloop_lag_mean_seconds: gauge(`${EVENT_LOOP}, mean.`),
  nodejs_eventloop_lag_p50_seconds: gauge(`${EVENT_LOOP}, median.`),
  nodejs_eventloop_lag_p99_seconds: gauge(`${EVENT_LOOP}, 99th percentile.`),
  nodejs_eventloop_lag_max_seconds: gauge(`${EVENT_LOOP}, maximum.`),
  nodejs_eventloop_utilization: gauge('Share of the time since the last scrape in which the event loop worked.'),
  nodejs_heap_size_total_bytes: gauge('Size of the heap of V8.'),
  nodejs_heap_size_used_bytes: gauge('Used part of the heap of V8.'),
  nodejs_external_memory_bytes: gauge('Memory of objects outside of the heap of V8.'),
  nodejs_version_info: gauge('The version of Node.', { open: ['version'], limit: 1 }),
  process_cpu_seconds_total: counter('User and system CPU time.'),
  process_resident_memory_bytes: gauge('Resident memory.'),
  process_start_time_seconds: gauge('Start of the process, Unix time.'),
} as const satisfies Readonly<Record<string, MetricDefinition>>;

export type MetricName = keyof typeof METRICS;

export const MAX_SERIES = 1000;

/** The largest number of series of a metric. */
export function maxSeriesOf({ fixed = {}, open, limit = 0, buckets }: MetricDefinition): number {
  const combinations = Object.values(fixed).reduce((product, values) => product * values.length, open ? limit + 1 : 1);
  // The bounds, `+Inf`, sum and count.
  return combinations * (buckets ? buckets.length + 3 : 1);
}
