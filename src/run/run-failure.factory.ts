import { AppError } from '../errors/index.js';
import type { Statement } from '../persistence/statement/index.js';
import type { Cipher } from '../security/encryption/index.js';
import { NO_USAGE, type RunFailed } from './event/run-event.types.js';
import { RunItem } from './event/run-item.factory.js';
import { endRun, insertEvents } from './run-statement.factory.js';
import { toStoredEnd } from './run-record.mapper.js';
import type { RunRecord } from './run.types.js';

/** The end of a run that failed outside its handler's control. */
export function brokenEvent(runId: string, error: unknown): RunFailed {
  const code = error instanceof AppError ? error.code : 'INTERNAL';
  return {
    type: 'run.failed',
    run_id: runId,
    result: '',
    finish_reason: 'error',
    is_complete: false,
    iterations: 0,
    usage: NO_USAGE,
    model: '',
    error: {
      code,
      message:
        error instanceof AppError
          ? error.message
          : 'The run failed with an internal error; see the server log for the cause.',
      is_retryable: false,
    },
  };
}

/**
 * Ends a run whose stored data are damaged.
 * @param n the number of its next event
 */
export function damagedEnd(
  run: Pick<RunRecord, 'id' | 'tenant' | 'epoch' | 'status'>,
  n: number,
  error: AppError,
  cipher: Cipher,
): Statement[] {
  const event = brokenEvent(run.id, error);
  const item = new RunItem(n, Date.now(), event);
  return [
    endRun(run, run.status, 'failed', item.at, toStoredEnd(run, event, cipher)),
    ...insertEvents(run, [item], cipher),
  ];
}
