import { Injectable } from '@nestjs/common';
import { AppError, toAppError } from '../../errors/index.js';
import { HEAP_COST, HeapBudget, type Principal } from '../../kernel/index.js';
import { Database } from '../../persistence/index.js';
import { heapExhausted } from '../admission/run-admission.service.js';
import { ReplayedRunContext } from '../context/replayed-run-context.js';
import { RunHandlerRegistry } from '../run-handler.registry.js';
import { RunJournal } from '../run-journal.js';
import { RunService } from '../run.service.js';
import type { RunRecord } from '../run.types.js';
import { toRequestHash } from '../run-record.mapper.js';
import { ChildJoinService } from '../tree/child-join.service.js';

/** The request of a step to a provider, rebuilt from the journal with the present configuration. */
export interface RebuiltRequest {
  /** The body; `null` if the model has no provider's API. */
  readonly body: object | null;
  /** Hash of the body that was sent last for the step; `null` if none was sent, or by an earlier version. */
  readonly sentHash: string | null;
  /** Hash of `body`. */
  readonly hash: string | null;
}

/** Replays runs without effects. */
@Injectable()
export class RunReplayService {
  constructor(
    private readonly runs: RunService,
    private readonly journal: RunJournal,
    private readonly handlers: RunHandlerRegistry,
    private readonly children: ChildJoinService,
    private readonly heap: HeapBudget,
    private readonly database: Database,
  ) {}

  /**
   * The request of a step: the loop runs up to the step with the recorded results, and sends nothing.
   * @param step `model:<iteration>`, also of a call that failed and is not recorded
   * @throws AppError `RUN_NOT_FOUND`, `RUN_PRUNED`, `HEAP_EXHAUSTED`; `STEP_NOT_FOUND` if the loop does not reach such a step
   */
  async request(principal: Principal, runId: string, step: string): Promise<RebuiltRequest> {
    const run = await this.runs.get(principal, runId);
    const reservation = this.heap.open((await this.journal.sizeOf(run)) * HEAP_COST.journal);
    if (!reservation) throw heapExhausted();
    try {
      return await this.rebuilt(run, step);
    } finally {
      reservation.release();
    }
  }

  private async rebuilt(run: RunRecord, step: string): Promise<RebuiltRequest> {
    const { id: runId } = run;
    const [steps, files] = await Promise.all([this.journal.steps(runId), this.journal.files(runId)]);
    const recorded = new Map(steps.map((each) => [each.name, each]));
    const context = new ReplayedRunContext(run, step, {
      journal: this.journal,
      steps: recorded,
      files,
      children: this.children,
    });
    try {
      await this.handlers.get(run.kind).execute(run, context);
    } catch (cause) {
      if (context.request === undefined) throw notReached(runId, step, cause);
    }
    const { request: body } = context;
    if (body === undefined) throw notReached(runId, step);
    return { body, sentHash: await this.sentHash(runId, step), hash: body && toRequestHash(JSON.stringify(body)) };
  }

  private async sentHash(runId: string, step: string): Promise<string | null> {
    const sql = 'SELECT request_hash FROM run_step WHERE run_id = ? AND name = ?';
    const [row] = await this.database.query<{ request_hash: string | null }>(sql, [runId, step]);
    return row?.request_hash ?? null;
  }
}

function notReached(runId: string, step: string, cause?: unknown): AppError {
  const why = cause === undefined ? '' : ` ${toAppError(cause).message}`;
  const message = `Run ${runId} has no request of step "${step}": steps with requests are those of models, such as model:1.${why}`;
  return new AppError('STEP_NOT_FOUND', message, { cause });
}
