import type { RunRecord } from '../run.types.js';

/** The fields of a run that a queue needs. */
export type RunRef = Pick<RunRecord, 'id' | 'epoch' | 'kind' | 'loopVersion' | 'priority'>;

/** Every version of every loop has its own queue, so that a rolling deploy gives each run to a process that can replay it. */
export function queueOf({ kind, loopVersion }: Pick<RunRef, 'kind' | 'loopVersion'>): string {
  return `run-${kind}-v${loopVersion}`;
}
