/** Replays without effects: exported runs, and checks of them with changed code. */
export { RunReplayService } from './run-replay.service.js';
export type { CallPlan } from './call-plan.types.js';
export { parseExportedRun } from './exported-run.js';
export type { ExportedRun } from './exported-run.js';
export { RunExportService } from './run-export.service.js';
export { replayRun, RunReplayCheckService } from './run-replay-check.service.js';
export type { ReplayCheck, ReplayCheckOptions } from './run-replay-check.service.js';
