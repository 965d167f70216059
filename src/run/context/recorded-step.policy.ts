import { AppError } from '../../errors/index.js';

/** The action of a recorded step: replay returns the recorded result and never calls it. */
export function unreachable(): Promise<never> {
  throw new AppError('INTERNAL', 'A recorded step was executed again.');
}
