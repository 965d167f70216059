import { Injectable } from '@nestjs/common';
import { RunExpiryService } from './decision/run-expiry.service.js';
import { PostponedRunRegistry } from './postponed-run.registry.js';
import { isPostponed } from './context/execution-end.js';
import { RunJournal } from './run-journal.js';

/** Handles all that is due by the wall clock at once, without a timer: after `jackdaw/testing` has moved the clock. */
@Injectable()
export class DueRunService {
  private readonly others: (() => Promise<void>)[] = [];

  constructor(
    private readonly journal: RunJournal,
    private readonly expiry: RunExpiryService,
    private readonly postponed: PostponedRunRegistry,
  ) {}

  /** Adds the due work of a module above this one. */
  also(work: () => Promise<void>): void {
    this.others.push(work);
  }

  /** Expires due requests and deadlines, and starts postponed runs that are due. */
  async handleDue(): Promise<void> {
    await this.expiry.expireDue();
    for (const run of await this.journal.unfinished()) if (!isPostponed(run)) this.postponed.release(run.id);
    for (const work of this.others) await work();
  }
}
