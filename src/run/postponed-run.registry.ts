import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { runConfig, type RunConfig } from '../config/namespaces/index.js';
import type { AppError } from '../errors/index.js';
import { steadyNow } from '../kernel/index.js';
import { ModelStackFactory } from '../llm/index.js';
import { isPostponed } from './context/execution-end.js';
import type { RunHead } from './run.types.js';

interface Postponed {
  /** By the steady clock, in ms: a changed wall clock does not delay the run. */
  readonly dueAt: number;
  readonly start: () => void;
}

/** The part of the models' circuit breakers that postponed runs need. */
type Circuits = Pick<ModelStackFactory, 'onAdmission' | 'circuitOf'>;

/** Longest delay of a timer of Node, in ms. */
const MAX_TIMER_MS = 2_147_483_647;

/**
 * The postponed runs of this process, in the order of their postponement. One timer serves all of them. A circuit breaker
 * that admits requests again releases as many of the runs that its model postponed.
 */
@Injectable()
export class PostponedRunRegistry implements OnModuleDestroy {
  /** Time for which a run outlasts an outage, in ms. */
  readonly patienceMs: number;
  private readonly runs = new Map<string, Postponed>();
  /** The circuits of the models that postponed runs, by run id. */
  private readonly circuits = new Map<string, string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(runConfig.KEY) { outagePatienceMs }: Pick<RunConfig, 'outagePatienceMs'>,
    @Inject(ModelStackFactory) private readonly models: Circuits | null,
  ) {
    this.patienceMs = outagePatienceMs;
    models?.onAdmission((requests, circuit) => this.releaseFirst(requests, circuit));
  }

  onModuleDestroy(): void {
    clearTimeout(this.timer);
    this.runs.clear();
    this.circuits.clear();
  }

  /** Notes the outage that ended an execution of the run, before `add`. A parent waits for the model of its child run. */
  noteOutage(runId: string, outage: AppError): void {
    const circuit = this.models?.circuitOf(outage) ?? this.circuits.get(String(outage.details?.['run_id']));
    if (circuit === undefined) this.circuits.delete(runId);
    else this.circuits.set(runId, circuit);
  }

  /**
   * Delays a run that is not due.
   * @param start called once, when the run is due or released
   * @returns false if the run may start at once
   */
  add(run: RunHead, start: () => void): boolean {
    const now = Date.now();
    if (!isPostponed(run, now)) {
      this.circuits.delete(run.id);
      return false;
    }
    this.runs.set(run.id, { dueAt: steadyNow() + run.notBefore! - now, start });
    this.schedule();
    return true;
  }

  has(runId: string): boolean {
    return this.runs.has(runId);
  }

  /** Starts a run before it is due; no effect on other runs. */
  release(runId: string): void {
    const run = this.runs.get(runId);
    this.runs.delete(runId);
    this.circuits.delete(runId);
    run?.start();
  }

  private releaseFirst(count: number, circuit: string): void {
    const waiting = [...this.runs.keys()].filter((id) => this.circuits.get(id) === circuit);
    for (const id of waiting.slice(0, count)) this.release(id);
  }

  private releaseDue(): void {
    const now = steadyNow();
    for (const [id, { dueAt }] of this.runs) if (dueAt <= now) this.release(id);
    this.schedule();
  }

  private schedule(): void {
    clearTimeout(this.timer);
    if (this.runs.size === 0) return;
    const first = Math.min(...[...this.runs.values()].map(({ dueAt }) => dueAt));
    const delayMs = Math.min(Math.max(first - steadyNow(), 0), MAX_TIMER_MS);
    this.timer = setTimeout(() => this.releaseDue(), Math.ceil(delayMs)).unref();
  }
}
