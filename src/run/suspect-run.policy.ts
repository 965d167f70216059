import type { Statement } from '../persistence/index.js';
import { MAX_CRASHES } from './relinquished.policy.js';
import type { RunHead } from './run.types.js';

/** Two crashes within this time make the runs in flight suspects, in ms. */
const REPEATED_MS = 60_000;

/** A run that may have crashed the process. */
export interface SuspectRun {
  readonly run: RunHead;
  /** Its crashes since the last recorded step, below the limit unless only this run can be the cause. */
  readonly crashes: number;
}

/**
 * Separates the runs that must resume one at a time from the others. Of a run in flight at the crash the status is still
 * `running`; a suspect that had not resumed yet is queued.
 * @param now epoch ms
 */
export function separateSuspects(
  runs: readonly RunHead[],
  now: number,
): { readonly suspects: readonly SuspectRun[]; readonly others: readonly RunHead[] } {
  const crashed = runs.filter(({ status }) => status === 'running');
  const isRepeated = crashed.some(({ recoveredAt }) => recoveredAt !== null && now - recoveredAt < REPEATED_MS);
  const tested = crashed.filter(({ suspicions }) => suspicions > 0);
  const isSuspect = ({ status, suspicions, attempts }: RunHead) =>
    suspicions > 0 || (status === 'running' && (isRepeated || attempts + 1 >= MAX_CRASHES));
  const suspects = runs.filter(isSuspect).map((run) => {
    const isOnlyOne = tested.length === 1 && tested[0] === run;
    return { run, crashes: Math.min(run.attempts + 1, isOnlyOne ? MAX_CRASHES : MAX_CRASHES - 1) };
  });
  return { suspects, others: runs.filter((run) => !isSuspect(run)) };
}

/** Returns a crashed run to the queue as a suspect. @param now epoch ms */
export function suspectRun({ id, epoch }: Pick<RunHead, 'id' | 'epoch'>, crashes: number, now: number): Statement {
  return {
    sql: `UPDATE run SET status = 'queued', attempts = ?, suspicions = suspicions + 1, recovered_at = ?, changed_at = ?
      WHERE id = ? AND epoch = ? AND status = 'running'`,
    params: [crashes, now, now, id, epoch],
    changedRun: id,
  };
}
