import type { Statement } from '../persistence/statement/index.js';
import { MAX_CRASHES } from './context/execution-end.js';
import type { RunHead } from './run.types.js';
import type { RunLineage } from './tree/child-run.types.js';

/** Two crashes within this time make the runs in flight suspects, in ms. */
const REPEATED_MS = 60_000;

/** Suspicions after which a crash counts beside other suspects: child runs of one run always start together. */
const MAX_SUSPICIONS = 6;

/** The fields of an unfinished run that show whether it may have crashed its process. */
export type CrashedRun = Pick<RunHead, 'id' | 'epoch' | 'status' | 'attempts' | 'suspicions' | 'recoveredAt'> & {
  readonly lineage: Pick<RunLineage, 'parentRunId'> | null;
};

/** A run that may have crashed the process. */
export interface SuspectRun<T extends CrashedRun = CrashedRun> {
  readonly run: T;
  /** Its crashes since the last recorded step, below the limit unless this run is accused. */
  readonly crashes: number;
  /** Its suspicions from now on. */
  readonly suspicions: number;
  /** When it resumed as a suspect, before this crash; 0 if it was not in flight as one. */
  readonly testedAt: number;
}

/**
 * Separates the runs that must resume one at a time from the others. Of a run in flight at the crash the status is still
 * `running`; a suspect that had not resumed yet is queued.
 * @param runs those of one process
 * @param now epoch ms
 * @returns the likeliest suspect first: the one with the most crashes, of several the last that resumed
 */
export function separateSuspects<T extends CrashedRun>(
  runs: readonly T[],
  now: number,
): { readonly suspects: readonly SuspectRun<T>[]; readonly others: readonly T[] } {
  const crashed = runs.filter(({ status }) => status === 'running');
  const isRepeated = crashed.some(({ recoveredAt }) => recoveredAt !== null && now - recoveredAt < REPEATED_MS);
  const callers = new Set(crashed.map(({ lineage }) => lineage?.parentRunId));
  const tested = crashed.filter(({ id, suspicions }) => suspicions > 0 && !callers.has(id));
  const isSuspect = ({ status, suspicions, attempts }: T) =>
    suspicions > 0 || (status === 'running' && (isRepeated || attempts + 1 >= MAX_CRASHES));
  const suspects = runs.filter(isSuspect).map((run) => {
    const isAccused = tested.includes(run) && (tested.length === 1 || run.suspicions >= MAX_SUSPICIONS);
    const hasCrashed = run.status === 'running';
    return {
      run,
      crashes: Math.min(run.attempts + 1, isAccused ? MAX_CRASHES : MAX_CRASHES - 1),
      suspicions: run.suspicions + Number(hasCrashed),
      testedAt: hasCrashed && run.suspicions > 0 ? (run.recoveredAt ?? 0) : 0,
    };
  });
  return { suspects: suspects.toSorted(byLikelihood), others: runs.filter((run) => !isSuspect(run)) };
}

function byLikelihood(a: SuspectRun, b: SuspectRun): number {
  return b.suspicions - a.suspicions || b.crashes - a.crashes || b.testedAt - a.testedAt;
}

/**
 * Returns the crashed runs to the queue as suspects: one that has not resumed yet is not in flight at the next crash. One
 * batch, as the runs in flight show which one has caused the crash.
 * @param suspects as separated; their order is stored as the order of `recovered_at`
 * @param now epoch ms
 */
export function recordSuspects(suspects: readonly SuspectRun[], now: number): Statement[] {
  const crashed = suspects.filter(({ run }) => run.status === 'running');
  return crashed.map(({ run: { id, epoch }, crashes, suspicions }, at) => ({
    sql: `UPDATE run SET status = 'queued', attempts = ?, suspicions = ?, recovered_at = ?, changed_at = ?
      WHERE id = ? AND epoch = ? AND status = 'running'`,
    params: [crashes, suspicions, now - at, now, id, epoch],
    changedRun: id,
  }));
}
