import type { RunOpening, RunRecord, RunStatus } from './run.types.js';

/** The port to who runs what, and where. */
export abstract class RunDispatcher {
  /**
   * Begins to take runs, those first that an earlier process left unfinished; call it once, when the application is
   * ready. It resolves at once when the application is being closed.
   * @param which `own`: not the runs of agents that this application does not have. In a cluster every node takes any run
   */
  abstract recover(which?: 'all' | 'own'): Promise<void>;

  /** Whether the application is being closed. */
  abstract get isClosing(): boolean;

  /**
   * Lets a run begin here; a shutdown waits until it has.
   * @throws AppError `SHUTTING_DOWN` when this process takes no more runs
   */
  abstract admit<T>(begin: () => Promise<T>): Promise<T>;

  /** Whether runs are queued for the run's session, so that a further one must queue too. */
  abstract isAwaited(run: Pick<RunRecord, 'tenant' | 'sessionId'>): boolean | Promise<boolean>;

  /**
   * Executes a run that the journal holds, or will hold, as running and owned by this process, and for which room was
   * taken in `RunCapacityRegistry`; it is given back at the end.
   * @param opening when the journal does not hold it yet
   * @returns the status it had when the execution ended; `queued` when it was handed over
   */
  abstract execute(run: RunRecord, opening?: RunOpening): Promise<RunStatus>;

  /** Executes a new run that another one waits for in this process, in the room of that one. How it ends, its journal says. */
  abstract executeBeside(run: RunRecord): void;

  /**
   * The same for one that was begun before and that nobody executes now; nothing happens when it is executed elsewhere,
   * or cannot be taken at the moment.
   */
  abstract adopt(run: RunRecord): void;

  /** Looks soon whether the journal holds a run whose beginning could not be confirmed, and goes on with it if it does. */
  abstract recheck(run: RunRecord): void;

  /** Cancels the run at once if this process executes it; the journal does not hold that the cancel was requested. */
  abstract cancel(runId: string): void;

  /**
   * Executes a queued run as soon as its session is free and there is room, here or elsewhere; nobody waits for it.
   */
  abstract offer(run: RunRecord): void;

  /**
   * As `offer`, for a run whose end somebody waits for in this process.
   * @returns the status it had when its execution ended
   */
  abstract enqueue(run: RunRecord): Promise<RunStatus>;
}
