import { Injectable } from '@nestjs/common';
import type { Principal } from '../kernel/index.js';
import { RunAuditStore, RunService } from '../run/index.js';
import { AccessLogService, isViewer } from '../security/index.js';
import type { RunJournalDto, RunJournalQueryDto } from './run-journal.dto.js';
import { toRunJournal } from './run-journal.mapper.js';

/** Reads a run's journal, for audits and replay tests. */
@Injectable()
export class RunJournalService {
  constructor(
    private readonly runs: RunService,
    private readonly audit: RunAuditStore,
    private readonly access: AccessLogService,
  ) {}

  /** @throws AppError `RUN_NOT_FOUND`, `RUN_PRUNED` */
  async page(principal: Principal, id: string, { after = 0, limit = 50 }: RunJournalQueryDto): Promise<RunJournalDto> {
    const run = await this.runs.get(principal, id);
    const [steps, events] = await Promise.all([
      this.audit.steps(id, after, limit + 1),
      this.audit.events(id, after, limit + 1),
    ]);
    this.access.record(principal, 'read', 'run.journal', id);
    return toRunJournal(run, steps, events, { after, limit, hasInstructions: !isViewer(principal) });
  }
}
