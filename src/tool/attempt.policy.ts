import { messageOf } from '../common/index.js';

/** What `make` gives; when it throws, nothing, and `problems` has what it said. So that one mistake hides no other. */
export function attempt<T>(make: () => T, problems: string[]): T | undefined {
  try {
    return make();
  } catch (error) {
    problems.push(messageOf(error));
    return undefined;
  }
}
