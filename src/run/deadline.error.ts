import { AppError } from '../errors/index.js';

/** Error of an execution that exceeded its time limit, in ms. */
export function tookTooLong(timeoutMs: number): AppError {
  return new AppError('RUN_TIMEOUT', `The run took longer than its limit of ${timeoutMs} ms.`);
}

/** Error of a run that did not end by its deadline, in epoch ms. */
export function missedDeadline(deadlineAt: number): AppError {
  return new AppError('RUN_TIMEOUT', `The run did not end by its deadline, ${new Date(deadlineAt).toISOString()}.`);
}
