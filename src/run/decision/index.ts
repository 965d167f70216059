/** Decisions on waiting runs: requests to persons, verdicts, pauses and lists of waits. */
export type { Decision, Verdict } from './decision.types.js';
export { RunPauseService } from './run-pause.service.js';
export { countDecisions } from './waiting-time.policy.js';
export { RunDecisionService, type AnsweredRequest, type StoredMemo, type WaitingRun } from './run-decision.service.js';
export { selectDeniable, selectRequest, selectRequests } from './request-selection.policy.js';
export { WaitingRunStore } from './waiting-run.store.js';
export type { ListedWait } from './waiting-run.store.js';
export type { WaitingKind, WaitingRequest } from './waiting-request.types.js';
