import { Log, OutageReport } from '../../errors/index.js';
import type { RunRef } from './run-ref.types.js';

/** Executes a run to its end; `full` if there is no capacity now. */
export type TakeRun = (runId: string) => Promise<'done' | 'full'>;

/** Passes the ids of runs to start to nodes with free capacity. The journal has the data of lost entries. */
export abstract class RunQueue {
  /** Reports its outages; callers report a queue that does not answer. */
  readonly outage = new OutageReport(
    new Log('RunQueue'),
    'The run queue',
    'Each process executes the runs that it accepts until it answers',
  );

  /**
   * Starts to take runs of these queues. If it throws, it has started no run and may be retried.
   * @param earlier queues of earlier loop versions, taken after `startEarlier`, or when this process enqueues a run there
   * @param take resolves when the run has ended or another process owns it
   */
  abstract start(names: readonly string[], earlier: readonly string[], take: TakeRun): Promise<void>;
  /** Takes runs of earlier loop versions too; nothing before `start`. */
  abstract startEarlier(): Promise<void>;
  /** Enqueues runs; a run already enqueued in its present epoch remains one entry. */
  abstract add(runs: readonly RunRef[]): Promise<void>;
  /** Whether the backend answers now. */
  abstract answers(): Promise<boolean>;
  /** Stops taking runs. */
  abstract pause(): Promise<void>;
  /** Waits for the taken runs, then disconnects; does not wait for a backend that does not answer. */
  abstract close(): Promise<void>;
}
