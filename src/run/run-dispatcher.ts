import type { RunHead, RunOpening, RunRecord, RunStatus } from './run.types.js';

/** The port that decides which process executes which run. */
export abstract class RunDispatcher {
  /**
   * Starts to execute runs, unfinished ones of an earlier process first. Call it once, when the application is ready.
   * Resolves at once when the application is being closed.
   * @param which `own`: without the runs of agents that this application does not have. In a cluster every node takes
   *   any run
   */
  abstract recover(which?: 'all' | 'own'): Promise<void>;

  /**
   * Resumes one unfinished run of an earlier process, without `recover`. Nothing happens if a process executes it; in a
   * cluster the nodes resume it. Resolves at the end of the execution.
   */
  abstract resume(run: RunHead): Promise<void>;

  /** Whether the application is being closed. */
  abstract get isClosing(): boolean;

  /**
   * Admits the start of a run; a shutdown waits until the start has ended.
   * @param content size of the new run's input, in UTF-16 units; 0 if no new run starts
   * @throws AppError `SHUTTING_DOWN` when this process accepts no more runs, `HEAP_EXHAUSTED`
   */
  abstract admit<T>(begin: () => Promise<T>, content?: number): Promise<T>;

  /** Whether other runs are queued for the run's session, so that this run must queue too. */
  abstract isAwaited(run: Pick<RunRecord, 'tenant' | 'sessionId'>): boolean | Promise<boolean>;

  /**
   * Executes a run that is, or is being, journaled as running and owned by this process. The caller has reserved its
   * capacity in `RunCapacityRegistry`; the dispatcher releases it at the end.
   * @param opening if the journal does not hold the run yet
   * @returns the status at the end of the execution; `queued` when the run was handed over
   */
  abstract execute(run: RunRecord, opening?: RunOpening): Promise<RunStatus>;

  /**
   * Executes a new child run within the capacity of its parent, which waits in this process. The journal records its
   * end.
   */
  abstract executeChild(run: RunRecord): void;

  /**
   * As `executeChild`, for a run that was started earlier and has no owner now. Nothing happens if another process
   * executes it, or if this process cannot claim it at the moment.
   */
  abstract adopt(run: RunRecord): void;

  /** Checks soon whether a run with an unconfirmed start was journaled, and continues it if so. */
  abstract recheck(run: RunRecord): void;

  /** Cancels the run at once if this process executes it, without a journaled cancel request. */
  abstract cancel(runId: string): void;

  /**
   * Executes a queued run, on any node, when its session is free and there is capacity. The caller does not wait for
   * its end.
   */
  abstract offer(run: RunRecord): void;

  /**
   * As `offer`, for a run whose end a client of this process waits for.
   * @returns the status when its execution ended
   */
  abstract enqueue(run: RunRecord): Promise<RunStatus>;
}
