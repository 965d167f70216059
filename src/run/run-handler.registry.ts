import { Injectable } from '@nestjs/common';
import { AppError, Log } from '../errors/index.js';
import type { ChildRunPlace, ChildRunRequest } from './tree/child-run.types.js';
import type { RunContext } from './context/run-context.js';
import type { RunEnding, RunHead, RunOutcome, RunRecord, StartRun } from './run.types.js';

const NOTHING: RunEnding = { statements: [] };

/** Executes the runs of one kind; upper modules register theirs at boot. */
export interface RunHandler {
  readonly kind: string;
  /** The loop versions that it can replay; the last one is the current version. */
  readonly loopVersions: readonly number[];
  /**
   * Executes the run from its start; recorded steps return their results from the journal. Rejects with the signal's
   * reason when the run is handed over to another execution, and must not finish the run then.
   */
  execute(run: RunRecord, context: RunContext): Promise<RunOutcome>;
  /** Names of the MCP servers whose tools the run would have if they were connected. Called when the run starts. */
  missing?(run: RunRecord): readonly string[];
  /** The further parts of the end of a run that ends without `execute`, e.g. after an error. */
  ending?(run: RunRecord): Promise<RunEnding>;
  /** As of `ChildRunMaker`, for a kind without a maker. */
  current?(run: RunHead): Pick<RunRecord, 'definition' | 'definitionHash'>;
}

/** Creates child runs of one kind; upper modules register theirs at boot. */
export interface ChildRunMaker {
  readonly kind: string;
  /**
   * Creates the start data of a child run. The principal and the deadline are the parent's.
   * @throws AppError when the requested subject does not exist
   */
  create(parent: RunRecord, request: ChildRunRequest, place: ChildRunPlace): StartRun | Promise<StartRun>;
  /** Whether the application has the run's subject, such as its agent. */
  serves(run: RunHead): boolean;
  /**
   * The present definition of the run's subject. Absent if runs of this kind have no replay check.
   * @throws AppError if the application has no such subject
   */
  current?(run: RunHead): Pick<RunRecord, 'definition' | 'definitionHash'>;
}

/** Modules register their handlers when the application starts. */
function noHandler(kind: string): string {
  const remedy = 'If the application was created and not started, call its `init()` or `listen()` first';
  return `No handler is registered for runs of kind "${kind}". ${remedy}.`;
}

@Injectable()
export class RunHandlerRegistry {
  private readonly logger = new Log(RunHandlerRegistry.name);
  private readonly handlers = new Map<string, RunHandler>();
  private readonly makers = new Map<string, ChildRunMaker>();

  register(handler: RunHandler): void {
    if (this.handlers.has(handler.kind)) {
      throw new AppError('INTERNAL', `Two handlers are registered for runs of kind "${handler.kind}".`);
    }
    this.handlers.set(handler.kind, handler);
  }

  /** Whether the application has the run's subject, such as its agent; `true` if the kind has no maker to ask. */
  serves(run: RunHead): boolean {
    return this.handlers.has(run.kind) && (this.makers.get(run.kind)?.serves(run) ?? true);
  }

  all(): RunHandler[] {
    return [...this.handlers.values()];
  }

  get(kind: string): RunHandler {
    const handler = this.handlers.get(kind);
    if (!handler) throw new AppError('INTERNAL', noHandler(kind));
    return handler;
  }

  /** As of the handler; none if it has no such method. A failure does not block the start. */
  missing(run: RunRecord): readonly string[] {
    try {
      return this.handlers.get(run.kind)?.missing?.(run) ?? [];
    } catch (err) {
      this.logger.error({ err, run_id: run.id }, 'Failed to list the missing tools of a run');
      return [];
    }
  }

  /** The further parts of the end of a run that ends without its handler; a failure does not block the end. */
  async ending(run: RunRecord): Promise<RunEnding> {
    try {
      return (await this.get(run.kind).ending?.(run)) ?? NOTHING;
    } catch (err) {
      this.logger.error({ err, run_id: run.id }, 'Failed to collect the companion rows of a finished run');
      return NOTHING;
    }
  }

  registerMaker(maker: ChildRunMaker): void {
    this.makers.set(maker.kind, maker);
  }

  /** Whether runs of this kind have a replay check. */
  isCheckable(kind: string): boolean {
    const handler = this.handlers.get(kind);
    if (!handler) return false;
    return handler.current !== undefined || this.makers.get(kind)?.current !== undefined;
  }

  /** The run with the present definition of its subject. @throws AppError if the application has no such subject */
  current(run: RunRecord): RunRecord {
    const own = this.handlers.get(run.kind)?.current?.(run);
    return { ...run, ...(own ?? this.childMaker(run.kind).current?.(run)) };
  }

  childMaker(kind: string): ChildRunMaker {
    const maker = this.makers.get(kind);
    if (!maker) throw new AppError('INTERNAL', `Runs of kind "${kind}" cannot be called by other runs.`);
    return maker;
  }
}
