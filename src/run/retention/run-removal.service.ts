import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import { RunJournal } from '../run-journal.js';
import { isOpen } from '../run-record.mapper.js';
import { RunRetentionStore } from './run-retention.store.js';

/** Deletes the journals of single runs on request, as retention does by age. */
@Injectable()
export class RunRemovalService {
  constructor(
    private readonly journal: RunJournal,
    private readonly store: RunRetentionStore,
  ) {}

  /** Deletes steps, events and input of an ended run. @throws AppError `RUN_NOT_FOUND`; `REQUEST_REFUSED` for an open run */
  async prune(principal: Principal, runId: string): Promise<void> {
    const run = await this.journal.findOf(principal, runId);
    if (!run) throw new AppError('RUN_NOT_FOUND', `There is no run "${runId}".`);
    if (isOpen(run.status))
      throw new AppError('REQUEST_REFUSED', `Run "${runId}" is ${run.status}: cancel it before you delete it.`);
    await this.store.prune([runId], Date.now());
  }
}
