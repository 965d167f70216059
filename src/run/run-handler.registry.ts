import { Injectable } from '@nestjs/common';
import { AppError } from '../common/index.js';
import type { RunContext } from './run-context.js';
import type { RunOutcome, RunRecord } from './run.types.js';

/** What executes the runs of one kind; upper modules register theirs at boot. */
export interface RunHandler {
  readonly kind: string;
  /** The versions of its loop that it can replay; the last one is its own. */
  readonly loopVersions: readonly number[];
  /**
   * Executes the run from its beginning: recorded steps answer from the journal. It rejects with the signal's
   * reason when the run is handed over to another execution, and must not finish the run then.
   */
  execute(run: RunRecord, context: RunContext): Promise<RunOutcome>;
}

@Injectable()
export class RunHandlerRegistry {
  private readonly handlers = new Map<string, RunHandler>();

  register(handler: RunHandler): void {
    if (this.handlers.has(handler.kind)) {
      throw new AppError('INTERNAL', `Two handlers are registered for runs of kind "${handler.kind}".`);
    }
    this.handlers.set(handler.kind, handler);
  }

  all(): RunHandler[] {
    return [...this.handlers.values()];
  }

  get(kind: string): RunHandler {
    const handler = this.handlers.get(kind);
    if (!handler) throw new AppError('INTERNAL', `No handler is registered for runs of kind "${kind}".`);
    return handler;
  }
}
