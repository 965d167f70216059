import type { RunBus } from './follow/run-bus.js';
import type { RunJournal } from './run-journal.js';

/** Time without a recorded step after which the next suspect starts, in ms; doubled with each further suspicion. */
const NEXT_SUSPECT_MS = 5_000;
const MAX_DOUBLINGS = 6;

interface SuspectPlace {
  readonly journal: RunJournal;
  readonly bus: RunBus;
}

interface TestedRun {
  readonly id: string;
  /** At least 1. */
  readonly suspicions: number;
}

/**
 * Resolves when a suspect has recorded a step or its execution has ended, or when it has done neither for a time.
 * @param execution settles at the end of the execution
 */
export async function progressOf(
  { id, suspicions }: TestedRun,
  { journal, bus }: SuspectPlace,
  execution: Promise<unknown>,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = async () => {
    if (await hasProgressed(journal, id)) resolve();
  };
  // An event alone is no progress: the start of a tool is journaled before its result.
  const unsubscribe = bus.subscribe(id, ({ n }) => {
    if (n !== null) check().catch(() => undefined);
  });
  const timer = setTimeout(resolve, NEXT_SUSPECT_MS * 2 ** Math.min(suspicions - 1, MAX_DOUBLINGS)).unref();
  execution.finally(resolve).catch(() => undefined);
  await promise;
  clearTimeout(timer);
  unsubscribe();
}

/** A recorded step ends the suspicion. */
async function hasProgressed({ database }: RunJournal, runId: string): Promise<boolean> {
  const sql = 'SELECT id FROM run WHERE id = ? AND suspicions = 0';
  return (await database.query(sql, [runId])).length > 0;
}
