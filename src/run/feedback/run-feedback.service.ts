import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import { fieldMistake, type Principal } from '../../kernel/index.js';
import { isOpen } from '../run-record.mapper.js';
import { RunService } from '../run.service.js';
import { type FeedbackFilter, type FeedbackSummary, type RunFeedback, RunFeedbackStore } from './run-feedback.store.js';

/** Feedback to give: at least one of the fields. */
export interface GivenFeedback {
  /** 0 (bad) to 1 (good). */
  readonly score?: number;
  readonly comment?: string;
  /** The answer that the run should have given. */
  readonly correction?: string;
}

/** Feedback of people on runs: given once for each run and person, read by those who see the run. */
@Injectable()
export class RunFeedbackService {
  constructor(
    private readonly runs: RunService,
    private readonly store: RunFeedbackStore,
  ) {}

  /**
   * Gives feedback on a run; replaces earlier feedback of the same principal.
   * @throws AppError `RUN_NOT_FOUND`, `RUN_PRUNED`; `REQUEST_REFUSED` for an open run; `VALIDATION_FAILED` without a field
   */
  async give(principal: Principal, runId: string, given: GivenFeedback): Promise<RunFeedback> {
    const { score = null, comment = null, correction = null } = given;
    if (score === null && comment === null && correction === null) throw emptyFeedback();
    const run = await this.runs.get(principal, runId);
    if (isOpen(run.status)) {
      throw new AppError('REQUEST_REFUSED', `Run "${runId}" is ${run.status}: give feedback when it has ended.`);
    }
    const about = { runId, agent: run.agent, givenBy: principal.id, createdAt: Date.now() };
    const rounded = score === null ? null : Math.round(score * 1000) / 1000;
    const feedback: RunFeedback = { ...about, score: rounded, comment, correction };
    await this.store.put(run.tenant, run.principal.id, feedback);
    return feedback;
  }

  /** Withdraws the caller's feedback. @throws AppError `RUN_NOT_FOUND`; `NOT_FOUND` without feedback of the caller */
  async withdraw(principal: Principal, runId: string): Promise<void> {
    await this.runs.get(principal, runId);
    if (await this.store.remove(runId, principal.id)) return;
    throw new AppError('NOT_FOUND', `You have given no feedback on run "${runId}".`);
  }

  /** The feedback on a run, newest first. @throws AppError `RUN_NOT_FOUND` */
  async of(principal: Principal, runId: string): Promise<RunFeedback[]> {
    await this.runs.get(principal, runId);
    return this.store.of([runId]);
  }

  /** The feedback on runs, newest first. The caller must have checked access to the runs. */
  ofAll(runIds: readonly string[]): Promise<RunFeedback[]> {
    return this.store.of(runIds);
  }

  /** The feedback on runs that the caller may see, newest first. @param after of the last one of the previous page */
  list(
    principal: Principal,
    filter: FeedbackFilter,
    limit: number,
    after?: { readonly at: number; readonly id: string },
  ): Promise<RunFeedback[]> {
    return this.store.list(principal, filter, limit, after);
  }

  /** Sums by agent, of runs that the caller may see. */
  summary(principal: Principal, filter: FeedbackFilter): Promise<FeedbackSummary[]> {
    return this.store.summary(principal, filter);
  }
}

function emptyFeedback(): AppError {
  const message = 'give a score, a comment or a correction';
  return new AppError('VALIDATION_FAILED', `The request is not valid: ${message}.`, {
    details: { errors: [fieldMistake('score', message, 'isFeedback', undefined)] },
  });
}
