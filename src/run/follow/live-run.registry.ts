import { LiveRun } from './live-run.mapper.js';

/** The published state of runs that execute here; late followers start with it. */
export class LiveRunRegistry {
  private readonly runs = new Map<string, LiveRun>();

  /**
   * Registers a run that starts to publish here; the state of an earlier execution is dropped.
   * @param last the number of the last published journaled event
   */
  open(runId: string, last: number): LiveRun {
    const live = new LiveRun(last);
    this.runs.set(runId, live);
    return live;
  }

  /** `null` when the run is not executed here. */
  find(runId: string): LiveRun | null {
    return this.runs.get(runId) ?? null;
  }

  /** Removes a run whose execution in this process has ended. */
  close(runId: string): void {
    this.runs.delete(runId);
  }
}
