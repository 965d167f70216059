import { Injectable } from '@nestjs/common';
import { refusalOf } from '../persistence/index.js';
import { RunBus } from './run-bus.js';
import { NO_USAGE, type RunCancelled } from './run-event.types.js';
import { RunItem } from './run-item.factory.js';
import { isOpen, RunJournal } from './run-journal.js';
import type { RunRecord } from './run.types.js';

/** Asks runs to be cancelled, whatever they do and wherever. */
@Injectable()
export class RunCancelService {
  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
  ) {}

  /** @returns whether it was asked: not when it had ended, or has never been */
  async cancel(runId: string): Promise<boolean> {
    // A run may change its status between being read and being asked.
    for (;;) {
      const run = await this.journal.find(runId);
      if (!run || !isOpen(run.status)) return false;
      if (!(await this.request(run))) continue;
      this.bus.wake(runId);
      return true;
    }
  }

  /** @returns whether the run was still as it was read */
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
    const event: RunCancelled = {
      type: 'run.cancelled',
      run_id: run.id,
      result: '',
      finish_reason: 'cancelled',
      is_complete: false,
      iterations: 0,
      usage: NO_USAGE,
      model: '',
    };
    const item = new RunItem(1, now, event);
    await this.journal.cancelQueued(run, item);
    this.bus.tell(run, item);
  }
}
