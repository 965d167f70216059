import { Injectable } from '@nestjs/common';
import { RunCancelService } from '../run-cancel.service.js';
import { RunExecutor } from '../run.executor.js';
import { isOpen, RunJournal } from '../run-journal.js';
import type { RunRecord, RunStatus } from '../run.types.js';
import { ChildAnswerService } from './child-answer.service.js';
import { ChildJoinService } from './child-join.service.js';
import type { ChildCall, ChildStanding } from './child-run.types.js';
import { ChildRunStore } from './child-run.store.js';
import type { RunFamily } from './run-family.types.js';

/**
 * What runs are to one another. As long as a run goes on that another one called, that one waits for it where it is
 * executed; when it waits for a person, the other one waits too, as a row, and goes on when it has ended.
 */
@Injectable()
export class RunFamilyService implements RunFamily {
  /** Runs executed here that have called others. */
  private readonly parents = new Set<string>();

  constructor(
    executor: RunExecutor,
    private readonly journal: RunJournal,
    private readonly store: ChildRunStore,
    private readonly joins: ChildJoinService,
    private readonly answers: ChildAnswerService,
    private readonly cancels: RunCancelService,
  ) {
    executor.useFamily(this);
  }

  join(parent: RunRecord, call: ChildCall, signal: AbortSignal): Promise<ChildStanding> {
    this.parents.add(parent.id);
    return this.joins.join(parent, call, signal);
  }

  remember(runId: string): void {
    this.parents.add(runId);
  }

  async settled(run: RunRecord, status: RunStatus): Promise<void> {
    const wasParent = this.parents.delete(run.id);
    if (status === 'waiting') return wasParent ? this.answers.answer(run.id) : undefined;
    if (isOpen(status)) return;
    if (run.lineage) await this.answers.answer(run.lineage.parentRunId);
    if (!wasParent) return;
    for (const child of await this.store.openOf(run.id)) await this.cancels.cancel(child);
  }

  async isOrphan({ lineage }: RunRecord): Promise<boolean> {
    if (!lineage) return false;
    const parent = await this.journal.find(lineage.parentRunId);
    return !parent || !isOpen(parent.status);
  }

  /** Asks a run to be cancelled, and with it those that it called. @returns whether it had not ended */
  cancel(runId: string): Promise<boolean> {
    return this.cancels.cancel(runId);
  }

  /** Lets every run go on that waits for one that has ended, and cancels those that wait for a person and for nobody. */
  answerAll(isStopped: () => boolean): Promise<void> {
    return this.answers.answerAll(isStopped);
  }
}
