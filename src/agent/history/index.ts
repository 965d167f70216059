/** Stored runs for a user: journals, searches, usage and datasets. */
export { RunDatasetService } from './run-dataset.service.js';
export { RunHistoryService } from './run-history.service.js';
export { RunSearchService } from './run-search.service.js';
export type { ShownWait } from './run-search.service.js';
export type { FollowedRun, PageRequest, RunPosition, UsageReport } from './run-history.service.js';
export type { JournalEvent, JournalStep, RunJournalPage } from './run-history.mapper.js';
