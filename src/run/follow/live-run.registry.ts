import { LiveRun } from './live-run.mapper.js';

/** What the runs that are executed here are telling now; a follower that comes late begins with it. */
export class LiveRunRegistry {
  private readonly runs = new Map<string, LiveRun>();

  /**
   * A run begins to tell from here; what an earlier execution of it was telling is forgotten.
   * @param told the number of the last journaled event that has gone out
   */
  open(runId: string, told: number): LiveRun {
    const live = new LiveRun(told);
    this.runs.set(runId, live);
    return live;
  }

  /** `null` when the run is not executed here. */
  find(runId: string): LiveRun | null {
    return this.runs.get(runId) ?? null;
  }

  /** Nothing more comes of the run from here. */
  close(runId: string): void {
    this.runs.delete(runId);
  }
}
