import { messageOf } from '../errors/index.js';

/**
 * Result of `make`; if it throws, undefined, and its message is added to `problems`. Collects all mistakes instead of
 * the first.
 */
export function attempt<T>(make: () => T, problems: string[]): T | undefined {
  try {
    return make();
  } catch (error) {
    problems.push(messageOf(error));
    return undefined;
  }
}
