import { AppError } from '../../errors/index.js';
import type { JsonValue } from '../../kernel/json/index.js';
import { toErrorCode } from '../answer/run.error.js';
import type { DirectCallAnswer } from './direct-call.types.js';

/**
 * The result value of a direct call.
 * @throws AppError with the call's code if it failed, `RUN_WAITING` while a person must decide, `SHUTTING_DOWN` if the
 *   call was handed over to the next start; `details.run_id` is the run's id
 */
export function toCallValue({ tool, run_id, status, ...answer }: DirectCallAnswer): JsonValue {
  const details = { tool, run_id };
  switch (status) {
    case 'completed':
      return answer.result ?? null;
    case 'failed':
    case 'cancelled':
      throw new AppError(toErrorCode(answer.code ?? 'INTERNAL'), `Tool "${tool}": ${answer.error}`, { details });
    case 'waiting': {
      const what = answer.waiting?.map(({ kind }) => kind).join(', ') ?? 'an answer';
      throw new AppError(
        'RUN_WAITING',
        `The call of tool "${tool}" waits for a person (${what}): it resumes after a decision on run ${run_id}.`,
        { details: { ...details, waiting: answer.waiting } },
      );
    }
    case 'queued':
    case 'running':
      throw new AppError(
        'SHUTTING_DOWN',
        `The call of tool "${tool}" resumes in another process or at the next start, as run ${run_id}.`,
        {
          isRetryable: false,
          details,
        },
      );
  }
}
