import { AsyncLocalStorage } from 'node:async_hooks';
import { endsStream, type RunEvent } from '../event/run-event.types.js';
import { RunBus } from '../follow/run-bus.js';
import type { RunRecord, RunStatus } from '../run.types.js';

interface AwaitedRun {
  resolve(status: RunStatus | Promise<RunStatus>): void;
  readonly unsubscribe: () => void;
  readonly inContext: AsyncContext;
}

type AsyncContext = ReturnType<typeof AsyncLocalStorage.snapshot>;

/** Queued runs that a connection of this process waits for, on whichever node they execute. */
export class AwaitedRunRegistry {
  private readonly runs = new Map<string, AwaitedRun>();
  private readonly outside = AsyncLocalStorage.snapshot();

  constructor(private readonly bus: RunBus) {}

  /** Resolves when the run is settled here, or when another node reports that it has ended or waits. */
  add({ id }: Pick<RunRecord, 'id'>): Promise<RunStatus> {
    return new Promise((resolve) => {
      const unsubscribe = this.bus.subscribe(id, ({ event }) => {
        const status = endedAs(event);
        if (status) this.settle(id, status);
      });
      this.runs.set(id, { resolve, unsubscribe, inContext: AsyncLocalStorage.snapshot() });
    });
  }

  has(runId: string): boolean {
    return this.runs.has(runId);
  }

  /** The async context of the request that waits for the run; without one, that of no request. */
  contextOf(runId: string): AsyncContext {
    return this.runs.get(runId)?.inContext ?? this.outside;
  }

  ids(): string[] {
    return [...this.runs.keys()];
  }

  /** Ends the wait for a run with its status. */
  settle(runId: string, status: RunStatus | Promise<RunStatus>): void {
    const run = this.runs.get(runId);
    if (!run) return;
    this.runs.delete(runId);
    run.unsubscribe();
    run.resolve(status);
  }
}

function endedAs(event: RunEvent): RunStatus | null {
  if (!endsStream(event) || event.type === 'stream.closed') return null;
  return event.type.slice('run.'.length) as RunStatus;
}
