/** Reads of stored runs: lists, counts, changes and the audit of steps. */
export { RunAuditStore } from './run-audit.store.js';
export type { AuditedEvent, AuditedStep } from './run-audit.store.js';
export { RunListStore } from './run-list.store.js';
export { RunChangeService } from './run-change.service.js';
export type { FeedPosition, RunChange } from './run-change.service.js';
export { RunCountStore } from './run-count.store.js';
export type { RunCountFilter, RunCounts } from './run-count.store.js';
export type { ListedRun } from './listed-run.mapper.js';
export type { RunFilter, RunPage, RunSearchPage } from './run-list.store.js';
