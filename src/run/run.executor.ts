import { Injectable, Logger } from '@nestjs/common';
import { AppError, type ErrorCode } from '../common/index.js';
import { PrincipalDirectory } from '../security/index.js';
import { isGivenUp } from './given-up.policy.js';
import { JournaledRunContext } from './journaled-run-context.js';
import { RunBus } from './run-bus.js';
import type { RunFailed } from './run-event.types.js';
import { RunItem } from './run-item.factory.js';
import { RunHandlerRegistry } from './run-handler.registry.js';
import { RunJournal } from './run-journal.js';
import { RunOutbox } from './run-outbox.js';
import type { RunOutcome, RunRecord, RunStatus } from './run.types.js';

interface Execution {
  readonly controller: AbortController;
  readonly done: Promise<RunStatus>;
}

/** Executes claimed runs in this process: loads what is recorded, watches the time, commits the end. */
@Injectable()
export class RunExecutor {
  private readonly logger = new Logger(RunExecutor.name);
  private readonly executions = new Map<string, Execution>();

  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
    private readonly handlers: RunHandlerRegistry,
    private readonly principals: PrincipalDirectory,
  ) {}

  /** @param run as this process claimed it. @returns its status when the execution ended */
  execute(run: RunRecord): Promise<RunStatus> {
    const controller = new AbortController();
    const done = this.supervise(run, controller);
    this.executions.set(run.id, { controller, done });
    return done;
  }

  cancel(runId: string): void {
    this.executions.get(runId)?.controller.abort(cancelled());
  }

  /** Tells the run's followers that nothing more comes from here. */
  closeStreams(runId: string, code: ErrorCode): void {
    this.bus.publish(runId, new RunItem(null, Date.now(), { type: 'stream.closed', run_id: runId, code }));
  }

  /** Waits up to `timeoutMs` for what runs; what does not end by then is handed over. */
  async drain(timeoutMs: number): Promise<void> {
    if (this.executions.size === 0) return;
    const timer = setTimeout(() => {
      const reason = new AppError('SHUTTING_DOWN', 'The server shut down; the run goes on at its next start.', {
        isRetryable: true,
      });
      for (const { controller } of this.executions.values()) controller.abort(reason);
    }, timeoutMs);
    await Promise.allSettled([...this.executions.values()].map(({ done }) => done));
    clearTimeout(timer);
  }

  private async supervise(run: RunRecord, controller: AbortController): Promise<RunStatus> {
    const timer = setTimeout(() => {
      controller.abort(new AppError('RUN_TIMEOUT', `The run took longer than its limit of ${run.timeoutMs} ms.`));
    }, run.timeoutMs);
    if (run.cancelRequestedAt !== null) controller.abort(cancelled());
    try {
      const principal = await this.principals.lookUp(run.principal);
      if (!principal) controller.abort(revoked(run));
      const context = await this.open({ ...run, principal: principal ?? run.principal }, controller);
      return await this.conclude(run, context);
    } finally {
      clearTimeout(timer);
      this.executions.delete(run.id);
    }
  }

  private async open(run: RunRecord, controller: AbortController): Promise<JournaledRunContext> {
    if (run.epoch === 1) {
      return new JournaledRunContext(run, this.journal, new RunOutbox(run, this.bus, 1), new Map(), controller);
    }
    const steps = await this.journal.steps(run.id);
    const outbox = new RunOutbox(run, this.bus, await this.journal.lastEvent(run.id));
    const recorded = new Map(steps.map((step) => [step.name, step]));
    const context = new JournaledRunContext(run, this.journal, outbox, recorded, controller);
    context.emit({ type: 'run.resumed', run_id: run.id, attempt: run.epoch });
    return context;
  }

  private async conclude(run: RunRecord, context: JournaledRunContext): Promise<RunStatus> {
    try {
      const status = await context.conclude(await this.outcome(run, context));
      this.logger.log({ run_id: run.id, session_id: run.sessionId, agent: run.agent, status }, 'A run ended here');
      return status;
    } catch (error) {
      if (hasCode(context.signal.reason, 'SHUTTING_DOWN')) return await this.handOver(run, context);
      this.closeStreams(run.id, error instanceof AppError ? error.code : 'INTERNAL');
      this.logger.error({ err: error, run_id: run.id }, 'A run was given up here; its journal has what it did');
      throw error;
    }
  }

  private async handOver(run: RunRecord, context: JournaledRunContext): Promise<RunStatus> {
    try {
      await context.handOver();
    } finally {
      this.closeStreams(run.id, 'SHUTTING_DOWN');
    }
    return 'queued';
  }

  private async outcome(run: RunRecord, context: JournaledRunContext): Promise<RunOutcome> {
    try {
      return await this.handlers.get(run.kind).execute(run, context);
    } catch (error) {
      if (isGivenUp(context.signal)) throw error;
      this.logger.error({ err: error, run_id: run.id }, 'A run broke');
      return { kind: 'finished', event: brokenEvent(run, error), statements: [] };
    }
  }
}

function cancelled(): AppError {
  return new AppError('RUN_CANCELLED', 'The run was cancelled.');
}

/** Rights that were revoked while a run was not running stay revoked. */
function revoked({ principal }: RunRecord): AppError {
  return new AppError(
    'FORBIDDEN',
    `The rights of "${principal.id}", who began the run, were revoked; it does not go on.`,
  );
}

function hasCode(reason: unknown, code: ErrorCode): boolean {
  return reason instanceof AppError && reason.code === code;
}

function brokenEvent(run: RunRecord, error: unknown): RunFailed {
  const code = error instanceof AppError ? error.code : 'INTERNAL';
  return {
    type: 'run.failed',
    run_id: run.id,
    result: '',
    finish_reason: 'error',
    is_complete: false,
    iterations: 0,
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    model: '',
    error: {
      code,
      message: error instanceof AppError ? error.message : 'The run broke inside the server; its log has the cause.',
      is_retryable: false,
    },
  };
}
