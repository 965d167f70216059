import { AppError } from '../common/index.js';

/** The action of a step that is known to be recorded: it answers without happening. */
export function unreachable(): Promise<never> {
  throw new AppError('INTERNAL', 'A recorded step was executed again.');
}
