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

export { DueRunService } from './due-run.service.js';
export { isOpen, RUN_SEALED_TABLES, toRequestHash } from './run-record.mapper.js';
export { EvalReportStore } from './eval/eval-report.store.js';
export type { ListedEval } from './eval/eval-report.store.js';
export { RunFeedbackService } from './feedback/run-feedback.service.js';
export { FEEDBACK_SEALED_TABLE } from './feedback/run-feedback.store.js';
export type { FeedbackFilter, RunFeedback } from './feedback/run-feedback.store.js';
export { RunRemovalService } from './retention/run-removal.service.js';
export { RunEraseStore } from './erase/run-erase.store.js';
export { sessionIsFree } from './run-statement.factory.js';
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
