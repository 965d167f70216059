import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import { AccessLogService } from '../../security/access-log/index.js';
import { RunJournal } from '../run-journal.js';
import { isOpen } from '../run-record.mapper.js';
import { RunRetentionStore } from './run-retention.store.js';

/** Deletes the journals of single runs on request, as retention does by age. */
@Injectable()
export class RunRemovalService {
  constructor(
    private readonly journal: RunJournal,
    private readonly store: RunRetentionStore,
    private readonly access: AccessLogService,
  ) {}

  /**
   * Deletes steps, events and inputs of an ended run and of all runs below it.
   * @throws AppError `RUN_NOT_FOUND`; `REQUEST_REFUSED` for an open run
   */
  async prune(principal: Principal, runId: string): Promise<void> {
    const run = await this.journal.findOf(principal, runId);
    if (!run) throw new AppError('RUN_NOT_FOUND', `There is no run "${runId}".`);
    if (isOpen(run.status))
      throw new AppError('REQUEST_REFUSED', `Run "${runId}" is ${run.status}: cancel it before you delete it.`);
    await this.store.prune([runId, ...(await this.store.below(runId))], Date.now());
    this.access.record(principal, 'erase', 'run.journal', runId);
  }
}
