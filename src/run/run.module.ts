import { Module } from '@nestjs/common';
import { databaseConfig, type DatabaseConfig, runConfig, type RunConfig } from '../config/namespaces/index.js';
import { HeapBudget } from '../kernel/index.js';
import { LlmModule } from '../llm/index.js';
import { Database, NotificationChannel } from '../persistence/index.js';
import { TelemetryModule } from '../telemetry/index.js';
import { ChildAnswerService } from './tree/child-answer.service.js';
import { ChildJoinService } from './tree/child-join.service.js';
import { ChildRunStore } from './tree/child-run.store.js';
import { ChildStartService } from './tree/child-start.service.js';
import { RunService, RunTreeService } from './run.service.js';
import { RunEraseStore } from './erase/run-erase.store.js';
import { RunDecisionService } from './decision/run-decision.service.js';
import { RunExpiryService } from './decision/run-expiry.service.js';
import { DueRunService } from './due-run.service.js';
import { RunPauseService } from './decision/run-pause.service.js';
import { WaitingRunStore } from './decision/waiting-run.store.js';
import { RunForkService } from './fork/run-fork.service.js';
import { SealedCopyStore } from './fork/sealed-copy.store.js';
import { RunForkStore } from './fork/run-fork.store.js';
import { CreationKeyStore } from './admission/creation-key.store.js';
import { IdempotencyStore } from './admission/idempotency.store.js';
import { createHeapBudget } from './admission/heap-budget.factory.js';
import { RunAdmissionService, RunIntakeService, RunLoadStore } from './admission/run-admission.service.js';
import { RunCapacityRegistry } from './admission/run-capacity.registry.js';
import { RunStartService } from './run-start.service.js';
import { RunMetrics } from './run-metrics.service.js';
import { RunListenerRegistry } from './follow/run-listener.registry.js';
import { LocalRunBus, LocalRunHub, RunBus } from './follow/run-bus.js';
import { LocalRunDispatcher } from './local/local-run-dispatcher.js';
import { LocalRunLease, RunLease } from './run-lease.js';
import { RunRetentionService } from './retention/run-retention.service.js';
import { RunRemovalService } from './retention/run-removal.service.js';
import { RunRetentionStore } from './retention/run-retention.store.js';
import { EvalReportStore } from './eval/eval-report.store.js';
import { RunFeedbackService } from './feedback/run-feedback.service.js';
import { RunFeedbackStore } from './feedback/run-feedback.store.js';
import { RunFileService } from './files/run-file.service.js';
import { RunFileStore } from './files/run-file.store.js';
import { RunAuditStore } from './query/run-audit.store.js';
import { RunCancelService } from './run-cancel.service.js';
import { RunDispatcher } from './run-dispatcher.js';
import { PostponedRunRegistry } from './postponed-run.registry.js';
import { LateResultService } from './late-result.service.js';
import { RunExecutor } from './run.executor.js';
import { RunFollowService } from './follow/run-follow.service.js';
import { RunHandlerRegistry } from './run-handler.registry.js';
import { RunJournal } from './run-journal.js';
import { RunCountStore } from './query/run-count.store.js';
import { RunChangeService } from './query/run-change.service.js';
import { RunListStore } from './query/run-list.store.js';
import { RunExportService } from './replay/run-export.service.js';
import { RunReplayCheckService } from './replay/run-replay-check.service.js';
import { RunReplayService } from './replay/run-replay.service.js';
import { RunTracing } from './trace/run-tracing.service.js';
import { UnsentTraces } from './trace/unsent-traces.service.js';
import { RunUsageStore } from './usage/run-usage.store.js';
import { UsageDayService } from './usage/usage-day.service.js';
import { UsageDayStore } from './usage/usage-day.store.js';
import type { NodeRegistry } from './distributed/node.registry.js';

/** Runs on one process, or on many if the database serves many. The parts of a cluster are imported only then. */
@Module({
  imports: [LlmModule, TelemetryModule],
  providers: [
    RunJournal,
    RunHandlerRegistry,
    LateResultService,
    PostponedRunRegistry,
    RunExecutor,
    RunMetrics,
    RunTracing,
    UnsentTraces,
    { provide: HeapBudget, useFactory: createHeapBudget },
    RunAdmissionService,
    RunLoadStore,
    RunCapacityRegistry,
    RunIntakeService,
    IdempotencyStore,
    CreationKeyStore,
    RunStartService,
    RunCancelService,
    ChildRunStore,
    ChildStartService,
    ChildJoinService,
    ChildAnswerService,
    RunTreeService,
    RunService,
    RunFollowService,
    WaitingRunStore,
    RunDecisionService,
    RunExpiryService,
    DueRunService,
    RunPauseService,
    RunListStore,
    RunCountStore,
    RunChangeService,
    RunReplayService,
    RunExportService,
    RunReplayCheckService,
    RunEraseStore,
    RunFeedbackStore,
    RunFeedbackService,
    EvalReportStore,
    RunRemovalService,
    RunAuditStore,
    RunFileStore,
    RunFileService,
    RunUsageStore,
    UsageDayStore,
    UsageDayService,
    RunForkStore,
    SealedCopyStore,
    RunForkService,
    RunRetentionStore,
    RunRetentionService,
    { provide: RunLease, useFactory: createLease, inject: [runConfig.KEY, databaseConfig.KEY, Database] },
    {
      provide: RunBus,
      useFactory: createBus,
      inject: [databaseConfig.KEY, Database, RunJournal, RunLease, NotificationChannel],
    },
    { provide: RunListenerRegistry, useFactory: ({ audience }: RunBus) => audience, inject: [RunBus] },
    {
      provide: RunDispatcher,
      useFactory: createDispatcher,
      inject: [
        runConfig.KEY,
        databaseConfig.KEY,
        Database,
        RunLease,
        RunBus,
        RunJournal,
        RunExecutor,
        RunAdmissionService,
        RunCapacityRegistry,
        RunHandlerRegistry,
      ],
    },
  ],
  exports: [
    RunAdmissionService,
    HeapBudget,
    CreationKeyStore,
    RunHandlerRegistry,
    RunListenerRegistry,
    RunService,
    RunFollowService,
    RunListStore,
    RunCountStore,
    RunChangeService,
    RunReplayService,
    RunExportService,
    RunReplayCheckService,
    RunEraseStore,
    RunFeedbackService,
    EvalReportStore,
    RunRemovalService,
    RunAuditStore,
    RunFileStore,
    RunFileService,
    RunUsageStore,
    RunForkService,
    WaitingRunStore,
    RunDecisionService,
    RunPauseService,
    DueRunService,
  ],
})
export class RunModule {}

type DispatcherParts = [RunJournal, RunExecutor, RunAdmissionService, RunCapacityRegistry, RunHandlerRegistry];

async function createLease(config: RunConfig, { isShared }: DatabaseConfig, database: Database): Promise<RunLease> {
  if (!isShared) return new LocalRunLease();
  const { NodeRegistry } = await import('./distributed/node.registry.js');
  return new NodeRegistry(database, config);
}

async function createBus(
  config: DatabaseConfig,
  database: Database,
  journal: RunJournal,
  lease: RunLease,
  channel: NotificationChannel | null,
): Promise<RunBus> {
  if (!config.isShared) return new LocalRunBus(database.shared(LocalRunHub, () => new LocalRunHub()));
  const { createClusterRunBus } = await import('./distributed/cluster-run-bus.factory.js');
  return createClusterRunBus({ config, database, journal, lease, channel });
}

async function createDispatcher(
  config: RunConfig,
  place: DatabaseConfig,
  database: Database,
  lease: RunLease,
  bus: RunBus,
  ...[journal, executor, admission, capacity, handlers]: DispatcherParts
): Promise<RunDispatcher> {
  if (!place.isShared) {
    return new LocalRunDispatcher(journal, executor, bus as LocalRunBus, admission, capacity, config);
  }
  const { createBullRunDispatcher } = await import('./distributed/bull-run-dispatcher.factory.js');
  const nodes = lease as NodeRegistry;
  const parts = { config, place, database, journal, executor, bus, nodes, handlers, admission, capacity };
  return createBullRunDispatcher(parts);
}
