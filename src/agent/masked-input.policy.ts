import type { RunContext } from '../run/index.js';

/**
 * Emits an event that content of the run's input was masked; at most once for each run.
 * @param found kinds of masked content, if any
 */
export async function publishMasked(context: RunContext, found: readonly string[] | undefined): Promise<void> {
  if (!found) return;
  const reason = `it holds ${found.join(', ')}`;
  const about = { policy: 'content', on: 'input', decision: 'masked', iteration: 0, reason, found } as const;
  await context.value('input', () => context.emit({ type: 'policy.decided', ...about }));
}
