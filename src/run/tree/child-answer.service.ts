import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import { RunDecisionService } from '../decision/run-decision.service.js';
import { WaitingRunStore } from '../decision/waiting-run.store.js';
import { RunCancelService } from '../run-cancel.service.js';
import { RunJournal } from '../run-journal.js';
import { ChildRunStore } from './child-run.store.js';

/** Resumes runs that wait for an ended child, and cancels runs whose parent has ended. */
@Injectable()
export class ChildAnswerService {
  constructor(
    private readonly journal: RunJournal,
    private readonly store: ChildRunStore,
    private readonly waiting: WaitingRunStore,
    private readonly decisions: RunDecisionService,
    private readonly cancels: RunCancelService,
  ) {}

  /** Resumes a run that waits for an ended child; no effect on any other run. */
  async answer(runId: string): Promise<void> {
    const run = await this.journal.find(runId);
    if (run?.status !== 'waiting') return;
    const requests = await this.waiting.requests(runId);
    const ended = await this.store.endedOf(requests.flatMap(({ child_run_id }) => child_run_id ?? []));
    const answered = requests.filter(({ child_run_id }) => child_run_id !== undefined && ended.has(child_run_id));
    if (answered.length === 0) return;
    const answers = answered.map((request) => ({ request, verdict: { kind: 'join' } as const }));
    try {
      await this.decisions.decide({ run, requests }, answers, null);
    } catch (error) {
      // Another child's end, a cancel or another node was faster.
      if (!(error instanceof AppError && error.code === 'RUN_NOT_WAITING')) throw error;
    }
  }

  /**
   * Answers all waiting runs whose answer a crash prevented, and cancels waiting runs whose parent run has ended.
   * @param isStopped whether to stop before the next run
   */
  async answerAll(isStopped: () => boolean = () => false): Promise<void> {
    await this.forEach(
      (after) => this.store.waitingParents(after),
      (id) => this.answer(id),
      isStopped,
    );
    await this.forEach(
      (after) => this.store.waitingOrphans(after),
      (id) => this.cancels.cancel(id),
      isStopped,
    );
  }

  private async forEach(
    page: (after: string) => Promise<string[]>,
    handle: (runId: string) => Promise<unknown>,
    isStopped: () => boolean,
  ): Promise<void> {
    for (let after: string | undefined = ''; after !== undefined && !isStopped();) {
      const ids: string[] = await page(after);
      for (const id of ids) if (!isStopped()) await handle(id);
      after = ids.at(-1);
    }
  }
}
