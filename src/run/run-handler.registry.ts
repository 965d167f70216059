import { Injectable, Logger } from '@nestjs/common';
import { AppError } from '../common/index.js';
import type { ChildRunPlace, ChildRunRequest } from './child/child-run.types.js';
import type { RunContext } from './run-context.js';
import type { RunEnding, RunOutcome, RunRecord, StartRun } from './run.types.js';

const NOTHING: RunEnding = { statements: [] };

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
  /** What else ends with a run that ends without it, as one that it could not bring to an end. */
  ending?(run: RunRecord): Promise<RunEnding>;
}

/** What makes runs of one kind that are calls of other runs; upper modules register theirs at boot. */
export interface ChildRunMaker {
  readonly kind: string;
  /**
   * The run as it would be started; whose it is and when it must be done is the parent's.
   * @throws AppError when there is nothing such to run
   */
  create(parent: RunRecord, request: ChildRunRequest, place: ChildRunPlace): StartRun | Promise<StartRun>;
  /** Whether the application has what such a run is of, as its agent. */
  serves(run: RunRecord): boolean;
}

@Injectable()
export class RunHandlerRegistry {
  private readonly logger = new Logger(RunHandlerRegistry.name);
  private readonly handlers = new Map<string, RunHandler>();
  private readonly makers = new Map<string, ChildRunMaker>();

  register(handler: RunHandler): void {
    if (this.handlers.has(handler.kind)) {
      throw new AppError('INTERNAL', `Two handlers are registered for runs of kind "${handler.kind}".`);
    }
    this.handlers.set(handler.kind, handler);
  }

  /** Whether the application has the run's subject, such as its agent; `true` if the kind has no maker to ask. */
  serves(run: RunRecord): boolean {
    return this.handlers.has(run.kind) && (this.makers.get(run.kind)?.serves(run) ?? true);
  }

  all(): RunHandler[] {
    return [...this.handlers.values()];
  }

  get(kind: string): RunHandler {
    const handler = this.handlers.get(kind);
    if (!handler) throw new AppError('INTERNAL', `No handler is registered for runs of kind "${kind}".`);
    return handler;
  }

  /** What else ends with a run that ends without its handler; what cannot be found out does not hold the end up. */
  async ending(run: RunRecord): Promise<RunEnding> {
    try {
      return (await this.get(run.kind).ending?.(run)) ?? NOTHING;
    } catch (err) {
      this.logger.error({ err, run_id: run.id }, 'What goes with a run could not be found at its end');
      return NOTHING;
    }
  }

  registerMaker(maker: ChildRunMaker): void {
    this.makers.set(maker.kind, maker);
  }

  childMaker(kind: string): ChildRunMaker {
    const maker = this.makers.get(kind);
    if (!maker) throw new AppError('INTERNAL', `Runs of kind "${kind}" cannot be called by other runs.`);
    return maker;
  }
}
