import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../errors/index.js';
import { steadyNow } from '../kernel/index.js';
import { isRefusedAfter, isStorageUnavailable, withPatience } from '../persistence/index.js';
import type { Statement } from '../persistence/statement/index.js';
import type { Cipher } from '../security/encryption/index.js';
import { countDecisions, firstExpiry, waitingEvent, withinDeadline } from './decision/waiting-time.policy.js';
import type { OutagePatience } from './context/execution-end.js';
import type { RunEvent } from './event/run-event.types.js';
import type { RunJournal } from './run-journal.js';
import { toStoredEnd } from './run-record.mapper.js';
import { endRun, postponeRun, releaseRun } from './run-statement.factory.js';
import type { RunOutcome, RunRecord, RunStatus } from './run.types.js';
import type { StepCompanion } from './context/step-companion.types.js';

/** Delays between two attempts, in ms; each is random between half of it and all of it. */
const FIRST_DELAY_MS = 50;
const LAST_DELAY_MS = 2_000;

/** The first row that a batch records, to find out whether a batch with an unknown outcome was applied. */
export interface BatchMark {
  readonly step: string | undefined;
  readonly event: number | undefined;
}

/**
 * The writes of a running run. While the database is unavailable, the process keeps the content of a batch and repeats
 * it: only the end of the process loses a result. A run has at most one such batch, as its next step waits for it.
 */
export class HeldCommit {
  /**
   * @param run as claimed by this process
   * @param onHeld called once per batch when clients have waited for the database as long as they may
   */
  constructor(
    private readonly run: RunRecord,
    private readonly journal: RunJournal,
    private readonly onHeld: () => void = () => undefined,
  ) {}

  /**
   * @param batch its first statement checks the owner of the run
   * @param companions their statements come last; if these are refused, they are rebuilt until the batch commits
   */
  async commit(batch: readonly Statement[], companions: readonly StepCompanion[], mark: BatchMark): Promise<void> {
    for (;;) {
      try {
        return await this.commitHeld([...batch, ...companions.flatMap((companion) => companion.statements())], mark);
      } catch (cause) {
        if (companions.length === 0 || !isRefusedAfter(cause, batch.length)) throw cause;
        await Promise.all(companions.map((companion) => companion.reconsider()));
      }
    }
  }

  private commitHeld(batch: readonly Statement[], mark: BatchMark): Promise<void> {
    let isUnknown = false;
    return this.repeat(
      async () => {
        if (!isUnknown || !(await this.isRecorded(mark))) await this.journal.commit(batch);
      },
      ({ isRetryable }) => (isUnknown ||= !isRetryable),
    );
  }

  /** Repeats `work` until the database answers. @throws all other errors of `work` */
  async repeat<T>(work: () => Promise<T>, onFailure: (error: AppError) => void = () => undefined): Promise<T> {
    const since = steadyNow();
    let isReported = false;
    for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(2 * delayMs, LAST_DELAY_MS)) {
      try {
        // A wait inside of the call would not release the clients.
        return await withPatience(null, work);
      } catch (error) {
        if (!isStorageUnavailable(error)) throw error;
        onFailure(error);
      }
      await this.rest(delayMs, since, isReported ? undefined : () => (isReported = true));
    }
  }

  /** Waits for the next attempt, and reports when clients have waited too long. */
  private async rest(delayMs: number, since: number, onReport?: () => void): Promise<void> {
    const { database } = this.journal;
    const report = () => {
      onReport?.();
      this.onHeld();
    };
    const leftMs = Math.max(0, database.timeoutMs - (steadyNow() - since));
    const timer = onReport && setTimeout(report, leftMs);
    await pause(delayMs * (0.5 + Math.random() / 2));
    await database.available();
    clearTimeout(timer);
  }

  /** Whether the journal has the batch; its rows are of this epoch, as only the owner of an epoch writes. */
  private async isRecorded({ step, event }: BatchMark): Promise<boolean> {
    const { database } = this.journal;
    const { id, epoch } = this.run;
    const [run] = await database.query<{ epoch: number; status: string }>(
      'SELECT epoch, status FROM run WHERE id = ?',
      [id],
    );
    if (run?.epoch !== epoch) return false;
    if (step !== undefined) return this.exists('SELECT 1 FROM run_step WHERE run_id = ? AND name = ?', [id, step]);
    if (event !== undefined) return this.exists('SELECT 1 FROM run_event WHERE run_id = ? AND n = ?', [id, event]);
    return run.status !== 'running';
  }

  private async exists(sql: string, params: (string | number)[]): Promise<boolean> {
    return (await this.journal.database.query(sql, params)).length > 0;
  }
}

/** The batch that ends an execution. */
interface Conclusion {
  readonly status: RunStatus;
  /** Checks the owner of the run, and changes its status. */
  readonly condition: Statement;
  readonly statements: readonly Statement[];
  /** The event of the new status; a postponement has none, as followers wait for the next execution. */
  readonly event?: RunEvent;
}

export function toConclusion(
  run: RunRecord,
  outcome: RunOutcome,
  patience: OutagePatience,
  cipher: Cipher,
): Conclusion {
  switch (outcome.kind) {
    case 'waiting': {
      const requests = outcome.requests.map((request) => withinDeadline(request, run.deadlineAt));
      const condition = releaseRun(run, 'waiting', firstExpiry(requests), countDecisions(requests));
      return { status: 'waiting', condition, statements: [], event: waitingEvent(run.id, requests) };
    }
    case 'postponed':
      return {
        status: 'queued',
        condition: postponeRun(run, patience.postponement(outcome.outage)),
        statements: [],
      };
    case 'finished': {
      const { event, statements } = outcome;
      const status = event.type.slice('run.'.length) as RunStatus;
      const condition = endRun(run, 'running', status, Date.now(), toStoredEnd(run, event, cipher));
      return { status, condition, statements, event };
    }
  }
}
