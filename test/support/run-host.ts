import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { HeapBudget, type Principal } from '../../src/kernel/index.js';
import { loadConfig, type EnvRecord } from '../../src/config/index.js';
import type { Database } from '../../src/persistence/index.js';
import type { Statement } from '../../src/persistence/statement/index.js';
import { openPersistence } from '../../src/persistence/shared-persistence.registry.js';
import { RUN_MIGRATIONS, type RunOutcome, type RunRecord } from '../../src/run/index.js';
import type { RunContext } from '../../src/run/context/index.js';
import { ChildAnswerService } from '../../src/run/tree/child-answer.service.js';
import { ChildJoinService } from '../../src/run/tree/child-join.service.js';
import { ChildStartService } from '../../src/run/tree/child-start.service.js';
import { RunService, RunTreeService } from '../../src/run/run.service.js';
import { ChildRunStore } from '../../src/run/tree/child-run.store.js';
import { RunDecisionService } from '../../src/run/decision/run-decision.service.js';
import { WaitingRunStore } from '../../src/run/decision/waiting-run.store.js';
import { RunCancelService } from '../../src/run/run-cancel.service.js';
import { LocalRunBus } from '../../src/run/follow/run-bus.js';
import { LocalRunDispatcher } from '../../src/run/local/local-run-dispatcher.js';
import { isTerminal } from '../../src/run/event/run-event.types.js';
import type { RunItem } from '../../src/run/event/run-item.factory.js';
import { IdempotencyStore } from '../../src/run/admission/idempotency.store.js';
import { RunAdmissionService, RunIntakeService, RunLoadStore } from '../../src/run/admission/run-admission.service.js';
import { RunCapacityRegistry } from '../../src/run/admission/run-capacity.registry.js';
import { RunStartService } from '../../src/run/run-start.service.js';
import { LateResultService } from '../../src/run/late-result.service.js';
import { PostponedRunRegistry } from '../../src/run/postponed-run.registry.js';
import { RunExecutor } from '../../src/run/run.executor.js';
import { RunFollowService } from '../../src/run/follow/run-follow.service.js';
import { RunHandlerRegistry } from '../../src/run/run-handler.registry.js';
import { RunJournal } from '../../src/run/run-journal.js';
import type { StartRun } from '../../src/run/run.types.js';
import { LLM_MIGRATIONS } from '../../src/llm/index.js';
import { Ownership, PrincipalDirectory, SECURITY_ENTITIES, SECURITY_MIGRATIONS } from '../../src/security/index.js';
import { PLAIN_CIPHER } from '../../src/security/encryption/index.js';
import { SESSION_ENTITIES, SESSION_MIGRATIONS } from '../../src/session/index.js';
import { TOOL_POLICY_ENTITIES, TOOL_POLICY_MIGRATIONS } from '../../src/tool-policy/index.js';
import { TOOL_STATE_MIGRATIONS } from '../../src/tool-state/index.js';
import { runJournal } from './run-parts.js';

export const ALICE: Principal = { id: 'alice', tenant: 'nest', roles: [] };

/** The code of a run. */
export type RunScript = (context: RunContext, run: RunRecord) => Promise<RunOutcome | void>;

export interface OpenDatabase {
  readonly database: Database;
  readonly dataSource: DataSource;
  close(): Promise<void>;
}

/** The whole schema: in memory, in the `DATA_DIR` of the variables, or on the server of their `DATABASE_URL`. */
export function openDatabase(env: EnvRecord = { DATABASE_URL: 'sqlite::memory:' }): Promise<OpenDatabase> {
  return openPersistence(loadConfig({ env }).config.database, {
    entities: [...SESSION_ENTITIES, ...SECURITY_ENTITIES, ...TOOL_POLICY_ENTITIES],
    migrations: [
      ...RUN_MIGRATIONS,
      ...SESSION_MIGRATIONS,
      ...SECURITY_MIGRATIONS,
      ...LLM_MIGRATIONS,
      ...TOOL_POLICY_MIGRATIONS,
      ...TOOL_STATE_MIGRATIONS,
    ],
  });
}

class KeepingDirectory extends PrincipalDirectory {
  async lookUp(principal: Principal): Promise<Principal> {
    return principal;
  }
}

/** All run services in one process; a second instance over the same database acts as the process after a crash. */
export class RunHost {
  readonly bus = new LocalRunBus();
  readonly journal: RunJournal;
  readonly executor: RunExecutor;
  readonly admission: RunAdmissionService;
  readonly dispatcher: LocalRunDispatcher;
  readonly decisions: RunDecisionService;
  readonly answers: ChildAnswerService;
  readonly cancels: RunCancelService;
  readonly runs: RunService;
  readonly follower: RunFollowService;
  /** The scripts of runs, by run id or by agent; without a script a run completes at once. */
  readonly scripts = new Map<string, RunScript>();
  /** The ids of runs in the order of their execution. */
  readonly executed: string[] = [];

  constructor(
    readonly database: Database,
    shutdownTimeoutMs = 0,
  ) {
    Logger.overrideLogger(false);
    const handlers = new RunHandlerRegistry();
    handlers.register({
      kind: 'test',
      loopVersions: [1],
      execute: (run, context) => this.execute(run, context),
    });
    handlers.registerMaker({
      kind: 'test',
      create: (_parent, { name }, { id }) => aRun(id, null, { agent: name }),
      serves: () => true,
    });
    this.journal = runJournal(database, { handlers });
    this.follower = new RunFollowService(this.journal, this.bus);
    const waiting = new WaitingRunStore(database, PLAIN_CIPHER, new Ownership());
    this.executor = new RunExecutor(
      this.journal,
      this.bus,
      handlers,
      new LateResultService(this.journal, this.bus, waiting),
      new PostponedRunRegistry({ outagePatienceMs: 3_600_000 }, null),
      new KeepingDirectory(),
    );
    const { config } = loadConfig({ env: { SHUTDOWN_TIMEOUT_MS: String(shutdownTimeoutMs) } });
    this.admission = new RunAdmissionService(new HeapBudget());
    const load = new RunLoadStore(database);
    const capacity = new RunCapacityRegistry(load, config.run, config.database);
    this.dispatcher = new LocalRunDispatcher(
      this.journal,
      this.executor,
      this.bus,
      this.admission,
      capacity,
      config.run,
    );
    const intake = new RunIntakeService(load, config.run);
    const keys = new IdempotencyStore(database, PLAIN_CIPHER);
    const starter = new RunStartService(this.journal, this.bus, this.dispatcher, capacity, intake, keys);
    this.cancels = new RunCancelService(this.journal, this.bus);
    const { cancels } = this;
    this.decisions = new RunDecisionService(this.journal, this.bus, waiting);
    const store = new ChildRunStore(database);
    const begins = new ChildStartService(this.journal, this.bus, this.dispatcher, handlers);
    const joins = new ChildJoinService(this.journal, this.bus, this.dispatcher, begins, waiting, cancels);
    this.answers = new ChildAnswerService(this.journal, store, waiting, this.decisions, cancels);
    const runTree = new RunTreeService(this.executor, this.journal, store, joins, this.answers, cancels);
    this.runs = new RunService(this.journal, this.bus, this.dispatcher, starter, this.follower, runTree);
  }

  /** All events of a run from now on. */
  listen(runId: string): RunItem[] {
    const items: RunItem[] = [];
    this.bus.subscribe(runId, (item) => items.push(item));
    return items;
  }

  /** Resolves at the run's end. */
  ended(runId: string): Promise<void> {
    return new Promise((resolve) => {
      this.bus.subscribe(runId, ({ event }) => isTerminal(event) && resolve());
    });
  }

  async events(runId: string): Promise<RunItem[]> {
    return this.journal.events(runId, 0);
  }

  private async execute(run: RunRecord, context: RunContext): Promise<RunOutcome> {
    this.executed.push(run.id);
    return (await (this.scripts.get(run.id) ?? this.scripts.get(run.agent))?.(context, run)) ?? completed(run.id);
  }
}

export function aRun(id: string, sessionId: string | null = null, more: Partial<StartRun> = {}): StartRun {
  return {
    id,
    principal: ALICE,
    kind: 'test',
    agent: 'tester',
    sessionId,
    loopVersion: 1,
    definition: '{}',
    definitionHash: 'empty',
    input: '{}',
    timeoutMs: 60_000,
    ...more,
  };
}

export function completed(runId: string, statements: readonly Statement[] = []): RunOutcome {
  return {
    kind: 'finished',
    event: {
      type: 'run.completed',
      run_id: runId,
      result: 'done',
      finish_reason: 'stop',
      is_complete: true,
      iterations: 1,
      usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
      model: 'none',
    },
    statements,
  };
}
