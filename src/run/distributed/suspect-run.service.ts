import type { RunConfig } from '../../config/namespaces/index.js';
import { Log } from '../../errors/index.js';
import type { RunBus } from '../follow/run-bus.js';
import type { RunJournal } from '../run-journal.js';
import { MAX_CRASHES } from '../context/execution-end.js';
import type { RunRecord } from '../run.types.js';
import { progressOf } from '../suspect-progress.js';
import { recordSuspects, separateSuspects } from '../suspect-run.policy.js';
import type { OpenRunStore } from './open-run.store.js';

/** Time after a crash in which suspects start in the order of their likelihood, in ms; includes a restart of a process. */
const HEAD_START_MS = 10_000;

/**
 * Resumes the suspects of dead processes, as `LocalRunRecovery` does without a cluster: each process executes one at a
 * time, so that a further crash shows which one it was.
 */
export class SuspectRunService {
  private readonly logger = new Log(SuspectRunService.name);
  /** The suspect that this process executes, until its first progress. */
  private tested: string | null = null;

  constructor(
    readonly journal: RunJournal,
    readonly bus: RunBus,
    private readonly open: OpenRunStore,
    private readonly config: RunConfig,
  ) {}

  /**
   * Returns the suspects among the runs of a dead process to the queue. Call it before a claim of one of them: a claimed
   * run no longer shows that it was in flight at the crash.
   */
  async record(owner: string): Promise<void> {
    const now = Date.now();
    // The crash was found one lease later.
    const { suspects } = separateSuspects(await this.open.inFlight(owner), now - this.config.cluster.leaseMs);
    if (suspects.length === 0) return;
    await this.journal.commit(recordSuspects(suspects, now));
    this.logger.warn({ node: owner }, `A process crashed repeatedly; ${suspects.length} runs resume one at a time`);
  }

  /** Whether the run may start: it is no suspect, or it is the one that this process tests from now on. */
  async reserve(run: RunRecord): Promise<boolean> {
    // A poisoned run only closes its turn.
    if (run.suspicions === 0 || run.attempts >= MAX_CRASHES || this.isCaller(run.lineage)) return true;
    if (this.tested !== null || (await this.isBehind(run)) || this.tested !== null) return false;
    this.tested = run.id;
    return true;
  }

  /** Lets the next suspect start. */
  release({ id }: RunRecord): void {
    if (this.tested === id) this.tested = null;
  }

  /** Releases the run when it has made progress, or has executed for a time without any. */
  async watch(run: RunRecord, execution: Promise<unknown>): Promise<void> {
    if (this.tested !== run.id) return;
    await progressOf(run, this, execution);
    this.release(run);
  }

  /** Whether the tested run waits for this child run. */
  private isCaller(lineage: RunRecord['lineage']): boolean {
    return lineage !== null && (this.tested === lineage.parentRunId || this.tested === lineage.rootRunId);
  }

  private async isBehind(run: RunRecord): Promise<boolean> {
    const recordedAt = run.recoveredAt ?? 0;
    return Math.abs(Date.now() - recordedAt) < HEAD_START_MS && (await this.open.hasSuspectAfter(recordedAt));
  }
}
