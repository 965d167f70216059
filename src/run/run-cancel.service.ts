import { Injectable } from '@nestjs/common';
import { refusalOf } from '../persistence/index.js';
import { RunBus } from './follow/run-bus.js';
import { missedDeadline } from './context/execution-end.js';
import { NO_USAGE, type RunCancelled, type RunFailed } from './event/run-event.types.js';
import { RunItem } from './event/run-item.factory.js';
import { RunJournal } from './run-journal.js';
import { isOpen } from './run-record.mapper.js';
import type { RunRecord } from './run.types.js';

/** The result of a run that has not started. */
const NOT_STARTED = { result: '', is_complete: false, iterations: 0, usage: NO_USAGE, model: '' } as const;

/** Requests the cancellation of runs, whatever their status or node. */
@Injectable()
export class RunCancelService {
  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
  ) {}

  /** @returns false if the run has ended or does not exist */
  async cancel(runId: string): Promise<boolean> {
    // The run may change its status between the read and the request.
    for (;;) {
      const run = await this.journal.find(runId);
      if (!run || !isOpen(run.status)) return false;
      if (!(await this.request(run))) continue;
      this.bus.wake(runId);
      return true;
    }
  }

  /**
   * Fails a queued run that did not start by its deadline. A run that starts at this moment checks the deadline itself.
   */
  async failOverdue(run: RunRecord, now: number): Promise<void> {
    const { code, message } = missedDeadline(run.deadlineAt!);
    const error = { code, message, is_retryable: false };
    const event: RunFailed = { type: 'run.failed', run_id: run.id, finish_reason: 'timeout', ...NOT_STARTED, error };
    try {
      await this.endQueued(run, event, now);
      this.bus.wake(run.id);
    } catch (cause) {
      if (!refusalOf(cause)) throw cause;
    }
  }

  /** @returns false if the run changed after it was read */
  private async request(run: RunRecord): Promise<boolean> {
    const now = Date.now();
    try {
      if (run.status === 'waiting') await this.journal.cancelWaiting(run, now);
      else if (run.status === 'queued' && run.epoch === 0) await this.cancelQueued(run, now);
      else await this.journal.requestCancel(run, now);
      return true;
    } catch (error) {
      if (refusalOf(error)) return false;
      throw error;
    }
  }

  private async cancelQueued(run: RunRecord, now: number): Promise<void> {
    await this.endQueued(
      run,
      { type: 'run.cancelled', run_id: run.id, finish_reason: 'cancelled', ...NOT_STARTED },
      now,
    );
  }

  private async endQueued(run: RunRecord, event: RunCancelled | RunFailed, now: number): Promise<void> {
    const item = new RunItem(1, now, event);
    await this.journal.endQueued(run, event.type === 'run.failed' ? 'failed' : 'cancelled', item);
    this.bus.emit(run, item);
  }
}
