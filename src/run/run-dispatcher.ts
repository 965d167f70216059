import type { RunRecord, RunStatus } from './run.types.js';

/** The port to who runs what, and where. */
export abstract class RunDispatcher {
  /** Goes on with every run that an earlier process left unfinished; call it once, when the application is ready. */
  abstract recover(): Promise<void>;

  /**
   * Lets a run begin here; a shutdown waits until it has.
   * @throws AppError `SHUTTING_DOWN` when this process takes no more runs
   */
  abstract admit<T>(begin: () => Promise<T>): Promise<T>;

  /** Whether runs are queued for this session, so that a further one must queue too. */
  abstract isAwaited(slot: string): boolean;

  /**
   * Executes a run that the journal already holds as running and owned by this process.
   * @returns the status it had when the execution ended; `queued` when it was handed over
   */
  abstract execute(run: RunRecord): Promise<RunStatus>;

  /** Executes a queued run as soon as its session is free. */
  abstract enqueue(run: RunRecord): Promise<RunStatus>;
}
