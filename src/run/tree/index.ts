/** Child runs: their requests, status and lineage. */
export type { ChildCall, ChildRunPlace, ChildRunRequest, ChildStatus, RunLineage } from './child-run.types.js';
