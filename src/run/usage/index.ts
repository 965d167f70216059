/** Usage of runs: tokens, costs and latencies of calls, summed per day, model and agent. */
export { toAccount, addUsage, toRunUsage, toUsage } from './run-usage.mapper.js';
export type { ModelMeter } from './model-meter.types.js';
export {
  RunUsageStore,
  type AgentUsage,
  type LatencyPage,
  type UsageEntry,
  type UsagePage,
  type UsageSum,
} from './run-usage.store.js';
export type { UsageFilter, UsageKind } from './usage-query.factory.js';
export { LATENCY_BUCKETS_MS } from './summed-column.js';
export type { CallLatency } from './call-latency.mapper.js';
