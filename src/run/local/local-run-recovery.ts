import { Log } from '../../errors/index.js';
import type { RunJournal } from '../run-journal.js';
import type { RunBus } from '../run-bus.js';
import { separateSuspects, suspectRun } from '../suspect-run.policy.js';
import type { RunHead } from '../run.types.js';

/** Runs resumed at the same time by a recovery. */
const CONCURRENCY = 50;
/** Time without a recorded step after which the next suspect starts, in ms; doubled with each further suspicion. */
const NEXT_SUSPECT_MS = 5_000;
const MAX_DOUBLINGS = 6;

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
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
    private readonly dispatcher: Resuming,
  ) {}

  /** Resolves when the suspects are recorded; the runs resume in the background. */
  async start(runs: readonly RunHead[]): Promise<void> {
    const now = Date.now();
    const crashed = runs.filter(({ status }) => status === 'running').length;
    this.logger.log(`Resuming ${runs.length} unfinished runs, ${crashed} of them interrupted by a crash`);
    const { suspects, others } = separateSuspects(runs, now);
    for (const { run, crashes } of suspects) if (run.status === 'running') await this.record(run, crashes, now);
    if (suspects.length > 0) {
      this.logger.warn(`The process crashed repeatedly; ${suspects.length} runs in flight resume one at a time`);
    }
    const rest = others[Symbol.iterator]();
    for (let i = 0; i < CONCURRENCY; i++) void this.resumeAll(rest);
    void this.resumeSuspects(suspects.map(({ run }) => run));
  }

  /** Back in the queue, a suspect that has not resumed is not in flight when the process crashes again. */
  private async record(run: RunHead, crashes: number, now: number): Promise<void> {
    await this.journal.commit([suspectRun(run, crashes, now)]);
  }

  private async resumeAll(runs: Iterable<RunHead>): Promise<void> {
    for (const run of runs) {
      if (this.dispatcher.isClosing) return;
      await this.dispatcher.resume(run);
    }
  }

  private async resumeSuspects(suspects: readonly RunHead[]): Promise<void> {
    for (const run of suspects) {
      if (this.dispatcher.isClosing) return;
      await this.resumeSuspect(run);
    }
  }

  /** Resolves when the run has recorded a step or has ended, or when it has done neither for a time. */
  private async resumeSuspect(run: RunHead): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const unsubscribe = this.bus.subscribe(run.id, ({ n, event }) => {
      // All other journaled events are committed with a step or an end.
      if (n !== null && event.type !== 'run.started' && event.type !== 'run.resumed') resolve();
    });
    const delayMs = NEXT_SUSPECT_MS * 2 ** Math.min(run.suspicions, MAX_DOUBLINGS);
    const timer = setTimeout(resolve, delayMs).unref();
    void this.dispatcher.resume(run).then(resolve);
    await promise;
    clearTimeout(timer);
    unsubscribe();
  }
}

/** Log line about unfinished runs that another application resumes. */
export function othersMessage(runs: readonly RunHead[]): string {
  const agents = [...new Set(runs.map(({ agent }) => `"${agent}"`))].join(', ');
  return `${runs.length} unfinished runs of ${agents} are left to an application that has these agents`;
}
