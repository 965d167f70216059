import { Injectable } from '@nestjs/common';
import { RunCancelService } from '../run-cancel.service.js';
import { RunExecutor } from '../run.executor.js';
import { isOpen, RunJournal } from '../run-journal.js';
import type { RunRecord, RunStatus } from '../run.types.js';
import { ChildAnswerService } from './child-answer.service.js';
import { ChildJoinService } from './child-join.service.js';
import type { ChildCall, ChildStatus } from './child-run.types.js';
import { ChildRunStore } from './child-run.store.js';
import type { RunTree } from './run-tree.types.js';

/**
 * The relations between runs of a tree. A parent waits for a running child on its own node. When the child waits for a
 * decision, the parent changes to `waiting` too, without a process, and resumes when the child has ended.
 */
@Injectable()
export class RunTreeService implements RunTree {
  /** Runs executed here that have started child runs. */
  private readonly parents = new Set<string>();

  constructor(
    executor: RunExecutor,
    private readonly journal: RunJournal,
    private readonly store: ChildRunStore,
    private readonly joins: ChildJoinService,
    private readonly answers: ChildAnswerService,
    private readonly cancels: RunCancelService,
  ) {
    executor.useRunTree(this);
  }

  join(parent: RunRecord, call: ChildCall, signal: AbortSignal): Promise<ChildStatus> {
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

  /** Requests the cancellation of a run. @returns false if it had ended */
  cancel(runId: string): Promise<boolean> {
    return this.cancels.cancel(runId);
  }

  /** Resumes every run that waits for an ended child, and cancels waiting runs whose parent has ended. */
  answerAll(isStopped: () => boolean): Promise<void> {
    return this.answers.answerAll(isStopped);
  }
}
