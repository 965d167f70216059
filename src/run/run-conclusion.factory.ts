import type { Statement } from '../persistence/index.js';
import type { Cipher } from '../security/index.js';
import { countDecisions, firstExpiry, waitingEvent, withinDeadline } from './decision/waiting-time.policy.js';
import type { OutagePatience } from './outage-patience.js';
import type { RunEvent } from './run-event.types.js';
import { endRun, postponeRun, releaseRun } from './run-statement.factory.js';
import { toStoredEnd } from './run-summary.mapper.js';
import type { RunOutcome, RunRecord, RunStatus } from './run.types.js';

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
