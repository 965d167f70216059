import type { RunEvent } from '../../run/index.js';
import type { CallLoop } from '../reasoning.types.js';

type Applied = Extract<RunEvent, { readonly type: 'policy.decided'; readonly policy: string }>;

/** Emits an event that content was masked or blocked, with the kinds of matches but never the content. */
export function emitContentDecision(
  { run, iteration }: CallLoop,
  about: Pick<Applied, 'on' | 'call_id' | 'tool'>,
  { kind, names }: { readonly kind: 'masked' | 'blocked'; readonly names: readonly string[] },
): void {
  run.emit({
    type: 'policy.decided',
    policy: 'content',
    decision: kind,
    iteration,
    ...about,
    reason: `it holds ${names.join(', ')}`,
    found: names,
  });
}
