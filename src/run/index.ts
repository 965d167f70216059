/** Durable runs: a run is a journal of steps that execute once, observed through numbered events. */
import { CreateRun1764000000000 } from './migrations/1764000000000-create-run.migration.js';
import { ExtendRun1764000000002 } from './migrations/1764000000002-extend-run.migration.js';
import { LinkChildRuns1764000000014 } from './migrations/1764000000014-link-child-runs.migration.js';
import { OwnRuns1764000000018 } from './migrations/1764000000018-own-runs.migration.js';
import { CreateCreationKey1764000000023 } from './migrations/1764000000023-create-creation-key.migration.js';
import { PostponeRuns1764000000031 } from './migrations/1764000000031-postpone-runs.migration.js';
import { SuspectRuns1764000000032 } from './migrations/1764000000032-suspect-runs.migration.js';
import { CountCacheWrites1764000000040 } from './migrations/1764000000040-count-cache-writes.migration.js';
import { DescribeRuns1764000000041 } from './migrations/1764000000041-describe-runs.migration.js';
import { TimeSteps1764000000042 } from './migrations/1764000000042-time-steps.migration.js';
import { TraceRuns1764000000043 } from './migrations/1764000000043-trace-runs.migration.js';
import { CreateWebhook1764000000044 } from './migrations/1764000000044-create-webhook.migration.js';
import { CreateRunFeedback1764000000046 } from './migrations/1764000000046-create-run-feedback.migration.js';
import { CreateEvalReport1764000000047 } from './migrations/1764000000047-create-eval-report.migration.js';
import { SumUsage1764000000048 } from './migrations/1764000000048-sum-usage.migration.js';
import { CreateRunNode1764000000003 } from './migrations/1764000000003-create-run-node.migration.js';
import { CreateRunUsage1764000000013 } from './migrations/1764000000013-create-run-usage.migration.js';

export type { ChildCall, ChildRunPlace, ChildRunRequest, ChildStatus, RunLineage } from './tree/child-run.types.js';
export type { Decision, Verdict } from './decision/decision.types.js';
export { RunPauseService } from './decision/run-pause.service.js';
export { countDecisions } from './decision/waiting-time.policy.js';
export {
  RunDecisionService,
  type AnsweredRequest,
  type StoredMemo,
  type WaitingRun,
} from './decision/run-decision.service.js';
export { DueRunService } from './due-run.service.js';
export { selectDeniable, selectRequest, selectRequests } from './decision/request-selection.policy.js';
export {
  factsOfEnd,
  factsOfRun,
  isPrivate,
  isTainted,
  mergeFacts,
  storedFacts,
  toEndedFacts,
  UNKNOWN_FACTS,
} from './data-facts.js';
export type { DataFact, WaitFact } from './data-facts.js';
export { RunContext } from './run-context.js';
export type { StepName } from './run-context.js';
export { isOpen, RUN_SEALED_TABLES, toRequestHash } from './run-record.mapper.js';
export { isLive, NO_USAGE, isTerminal } from './run-event.types.js';
export type {
  JournaledEvent,
  LiveEvent,
  AnsweredBy,
  RunEvent,
  RunFinishReason,
  RunResult,
  RunUsage,
  TerminalEvent,
  ToolCompleted,
  ToolStarted,
  UsageReported,
} from './run-event.types.js';
export { WaitingRunStore } from './decision/waiting-run.store.js';
export type { ListedWait } from './decision/waiting-run.store.js';
export type { WaitingKind, WaitingRequest } from './decision/waiting-request.types.js';
export type { ForkEdits, ForkPlan, GivenStep, RunMarks } from './fork/run-fork.types.js';
export { RunForkService } from './fork/run-fork.service.js';
export { FIRST_STEP } from './fork/run-prefix.policy.js';
export { toAccount, addUsage, toRunUsage, toUsage } from './run-usage.mapper.js';
export type { ModelMeter } from './model-meter.types.js';
export { RunAuditStore } from './run-audit.store.js';
export type { AuditedEvent, AuditedStep } from './run-audit.store.js';
export type { CompactedState, MemoryState, ReferenceState, ShortenedTurnState } from './memory-state.types.js';
export type { RunFailure } from './run-failure.types.js';
export type { NodeCompleted, NodeKind } from './node-event.types.js';
export { EvalReportStore } from './eval/eval-report.store.js';
export type { ListedEval } from './eval/eval-report.store.js';
export { RunFeedbackService } from './feedback/run-feedback.service.js';
export { FEEDBACK_SEALED_TABLE } from './feedback/run-feedback.store.js';
export type { FeedbackFilter, RunFeedback } from './feedback/run-feedback.store.js';
export { toPublishedFile } from './files/run-file.mapper.js';
export { RunFileService } from './files/run-file.service.js';
export { RunFileStore } from './files/run-file.store.js';
export type { PublishedFile, RunFile } from './files/run-file.types.js';
export type { PublishedImage } from './published-image.types.js';
export { RunEraseStore } from './erase/run-erase.store.js';
export { sessionIsFree } from './run-statement.factory.js';
export { RunReplayService } from './run-replay.service.js';
export type { CallPlan } from './replay/call-plan.types.js';
export { parseExportedRun } from './replay/exported-run.js';
export type { ExportedRun } from './replay/exported-run.js';
export { RunExportService } from './replay/run-export.service.js';
export { replayRun, RunReplayCheckService } from './replay/run-replay-check.service.js';
export type { ReplayCheck, ReplayCheckOptions } from './replay/run-replay-check.service.js';
export { RunListStore } from './run-list.store.js';
export { RunChangeService } from './run-change.service.js';
export type { FeedPosition, RunChange } from './run-change.service.js';
export { RunCountStore } from './run-count.store.js';
export type { RunCountFilter, RunCounts } from './run-count.store.js';
export type { ListedRun } from './listed-run.mapper.js';
export type { RunFilter, RunPage, RunSearchPage } from './run-list.store.js';
export {
  RunUsageStore,
  type AgentUsage,
  type LatencyPage,
  type UsageEntry,
  type UsagePage,
  type UsageSum,
} from './usage/run-usage.store.js';
export type { UsageFilter, UsageKind } from './usage/usage-query.factory.js';
export { LATENCY_BUCKETS_MS } from './usage/summed-column.js';
export type { CallLatency } from './usage/call-latency.mapper.js';
export { parseRunPlace, START, type RunPlace, RunItem } from './run-item.factory.js';
export { isRelinquished, journalUnavailable, queuedState } from './execution-end.js';
export { unreachable } from './recorded-step.policy.js';
export type { RunListener } from './run-bus.js';
export {
  RunListenerRegistry,
  eventTypesOf,
  type RunEventPattern,
  type RunNotice,
  type RunNoticeListener,
} from './listen/run-listener.registry.js';
export { MemoryRunContext } from './memory-run-context.js';
export type { StepCompanion, StepOptions, StepRequest } from './step-companion.types.js';
export { RunFollowService } from './run-follow.service.js';
export { RunHandlerRegistry } from './run-handler.registry.js';
export type { ChildRunMaker, RunHandler } from './run-handler.registry.js';
export { RunModule } from './run.module.js';
export { RunService } from './run.service.js';
export type { RunHandle } from './run.service.js';
export { heapExhausted } from './admission/run-admission.service.js';
export { MAX_PRIORITY } from './admission/priority.policy.js';
export { RunAdmissionService } from './admission/run-admission.service.js';
export { CreationKeyStore } from './admission/creation-key.store.js';
export type {
  ClientWait,
  IdempotentRequest,
  Postponed,
  RunEnding,
  RunHead,
  RunOutcome,
  RunRecord,
  RunStatus,
  StartRun,
  StepFacts,
  SubmittedWith,
} from './run.types.js';

export const RUN_MIGRATIONS = [
  CreateRun1764000000000,
  ExtendRun1764000000002,
  CreateRunNode1764000000003,
  CreateRunUsage1764000000013,
  LinkChildRuns1764000000014,
  OwnRuns1764000000018,
  CreateCreationKey1764000000023,
  PostponeRuns1764000000031,
  SuspectRuns1764000000032,
  CountCacheWrites1764000000040,
  DescribeRuns1764000000041,
  TimeSteps1764000000042,
  TraceRuns1764000000043,
  CreateWebhook1764000000044,
  CreateRunFeedback1764000000046,
  CreateEvalReport1764000000047,
  SumUsage1764000000048,
];
export { WEBHOOK_EVENTS } from './webhook-statement.factory.js';
export type { WebhookEvent } from './webhook-statement.factory.js';
export { RunRemovalService } from './retention/run-removal.service.js';
