import { AppError } from '../common/index.js';

/** An execution that took longer than it may, in ms. */
export function tookTooLong(timeoutMs: number): AppError {
  return new AppError('RUN_TIMEOUT', `The run took longer than its limit of ${timeoutMs} ms.`);
}

/** A run that came to no end by its deadline, in epoch ms. */
export function missedDeadline(deadlineAt: number): AppError {
  return new AppError('RUN_TIMEOUT', `The run was not done by its deadline, ${new Date(deadlineAt).toISOString()}.`);
}
