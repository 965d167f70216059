import type { RunContext } from '../run/index.js';

/**
 * Tells that something in a run's input was masked: once, by the run that it is about.
 * @param found what kinds of content, if any
 */
export async function tellMasked(context: RunContext, found: readonly string[] | undefined): Promise<void> {
  if (!found) return;
  const reason = `it holds ${found.join(', ')}`;
  const about = { policy: 'content', on: 'input', decision: 'masked', iteration: 0, reason, found } as const;
  await context.value('input', () => context.emit({ type: 'policy.decided', ...about }));
}
