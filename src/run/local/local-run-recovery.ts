import { Log } from '../../errors/index.js';
import type { RunJournal } from '../run-journal.js';
import type { RunBus } from '../follow/run-bus.js';
import { progressOf } from '../suspect-progress.js';
import { recordSuspects, separateSuspects, type SuspectRun } from '../suspect-run.policy.js';
import type { RunHead } from '../run.types.js';

/** Runs resumed at the same time by a recovery. */
const CONCURRENCY = 50;

/** How the dispatcher resumes runs. */
interface Resuming {
  readonly isClosing: boolean;
  /** Resolves at the end of the execution, or at once for a postponed run. */
  resume(run: RunHead): Promise<void>;
}

/**
 * Resumes the unfinished runs of an earlier process. After a first crash all resume at once. After a second one within a
 * minute, or the second one of a run without a recorded step, the runs in flight may have caused it: these suspects
 * resume one at a time, so that a further crash shows which one it was.
 */
export class LocalRunRecovery {
  private readonly logger = new Log(LocalRunRecovery.name);

  constructor(
    readonly journal: RunJournal,
    readonly bus: RunBus,
    private readonly dispatcher: Resuming,
  ) {}

  /** Resolves when the suspects are recorded; the runs resume in the background. */
  async start(runs: readonly RunHead[]): Promise<void> {
    const now = Date.now();
    const crashed = runs.filter(({ status }) => status === 'running').length;
    this.logger.log(`Resuming ${runs.length} unfinished runs, ${crashed} of them interrupted by a crash`);
    const { suspects, others } = separateSuspects(runs, now);
    if (suspects.length > 0) {
      await this.journal.commit(recordSuspects(suspects, now));
      this.logger.warn(`The process crashed repeatedly; ${suspects.length} runs in flight resume one at a time`);
    }
    const rest = others[Symbol.iterator]();
    for (let i = 0; i < CONCURRENCY; i++) void this.resumeAll(rest);
    void this.resumeSuspects(suspects);
  }

  private async resumeAll(runs: Iterable<RunHead>): Promise<void> {
    for (const run of runs) {
      if (this.dispatcher.isClosing) return;
      await this.dispatcher.resume(run);
    }
  }

  private async resumeSuspects(suspects: readonly SuspectRun<RunHead>[]): Promise<void> {
    for (const { run, suspicions } of suspects) {
      if (this.dispatcher.isClosing) return;
      await progressOf({ id: run.id, suspicions }, this, this.dispatcher.resume(run));
    }
  }
}

/** Log line about unfinished runs that another application resumes. */
export function othersMessage(runs: readonly RunHead[]): string {
  const agents = [...new Set(runs.map(({ agent }) => `"${agent}"`))].join(', ');
  return `${runs.length} unfinished runs of ${agents} are left to an application that has these agents`;
}
