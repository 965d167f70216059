import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/index.js';
import { RunDecisionService } from '../decision/run-decision.service.js';
import { WaitingRunStore } from '../decision/waiting-run.store.js';
import { RunJournal } from '../run-journal.js';
import { ChildRunStore } from './child-run.store.js';

/** Tells runs that wait for runs which they called that these have ended; that lets them go on. */
@Injectable()
export class ChildAnswerService {
  constructor(
    private readonly journal: RunJournal,
    private readonly store: ChildRunStore,
    private readonly waiting: WaitingRunStore,
    private readonly decisions: RunDecisionService,
  ) {}

  /** Nothing happens to a run that does not wait for such a one. */
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
      // Somebody was faster: another child's end, a cancel, another node.
      if (!(error instanceof AppError && error.code === 'RUN_NOT_WAITING')) throw error;
    }
  }

  /** All runs: for what a crash came before. */
  async answerAll(): Promise<void> {
    for (let after = ''; ;) {
      const page = await this.store.waitingParents(after);
      for (const id of page) await this.answer(id);
      const last = page.at(-1);
      if (last === undefined) return;
      after = last;
    }
  }
}
