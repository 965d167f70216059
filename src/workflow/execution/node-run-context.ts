import type { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import { RunContext, type StepName, type StepOptions } from '../../run/context/index.js';
import type { Decision, WaitingRequest } from '../../run/decision/index.js';
import type { RunEvent } from '../../run/event/index.js';
import type { ChildCall, ChildStatus, RunLineage } from '../../run/tree/index.js';
import type { NodeTask } from './node-task.types.js';

/**
 * The context of one node, on top of its run's context. Step places of iteration 1 of the node's loop map to places of
 * the run: `tool:1:1` becomes `tool:3/lookup:1`.
 */
export class NodeRunContext extends RunContext {
  readonly runId: string;
  readonly principal: Principal;
  readonly sessionId: string | null;
  readonly lineage: RunLineage | null;
  override readonly isJournaled: boolean;
  declare readonly deadlineAt?: number;
  override readonly files: RunContext['files'];
  override readonly observer: RunContext['observer'];
  readonly signal: AbortSignal;
  private readonly run: RunContext;
  private readonly number: number;
  private readonly hasOwnSession: boolean;
  private readonly hasFallback: boolean;
  private readonly place: string;

  constructor({ run, number, path, signal, hasOwnSession, hasFallback }: NodeTask) {
    super();
    this.run = run;
    this.number = number;
    this.signal = signal;
    this.hasOwnSession = hasOwnSession;
    this.hasFallback = hasFallback;
    this.runId = run.runId;
    this.principal = run.principal;
    this.sessionId = run.sessionId;
    this.lineage = run.lineage;
    this.isJournaled = run.isJournaled;
    this.files = run.files;
    this.observer = run.observer;
    if (run.deadlineAt !== undefined) this.deadlineAt = run.deadlineAt;
    this.place = `${number}/${path}`;
  }

  override nameOf({ kind, place }: Pick<StepName, 'kind' | 'place'>): string {
    return this.run.nameOf({ kind, place: this.at(place) });
  }

  step<T>(name: StepName, action: () => Promise<T>, options?: StepOptions<T>): Promise<T> {
    return this.run.step({ ...name, place: this.at(name.place) }, action, options);
  }

  isRecorded({ kind, place }: { readonly kind: StepName['kind'] | 'value'; readonly place: string }): boolean {
    return this.run.isRecorded({ kind, place: this.at(place) });
  }

  override outlasts(error: unknown): error is AppError {
    return !this.hasFallback && !this.signal.aborted && this.run.outlasts(error);
  }

  answer(requestId: string): Decision | undefined {
    return this.run.answer(this.at(requestId));
  }

  value<T>(place: string, make: () => T | Promise<T>): Promise<T> {
    return this.run.value(this.at(place), make);
  }

  claim(place: string, announcement: RunEvent): Promise<'claimed' | 'unknown'> {
    return this.run.claim(this.at(place), this.placed(announcement));
  }

  join(call: ChildCall): Promise<ChildStatus> {
    const signal = call.signal ? AbortSignal.any([this.signal, call.signal]) : this.signal;
    const request = async () => ({ ...(await call.request()), isSeparate: true });
    return this.run.join({ ...call, signal, ...(this.hasOwnSession && { request }) });
  }

  emit(event: RunEvent): void {
    this.run.emit(this.placed(event));
  }

  /** A request of the node, with its id and step as places of the run. */
  withPlace(request: WaitingRequest): WaitingRequest {
    return { ...request, id: this.at(request.id), step: this.at(request.step) };
  }

  /** Maps a place of the node's loop, or a named place, to a place of the run. */
  private at(place: string): string {
    const published = place.replace(/(^|:)\d+/, `$1${this.place}`);
    return published === place ? `${place}:${this.place}` : published;
  }

  private placed(event: RunEvent): RunEvent {
    return 'iteration' in event ? { ...event, iteration: this.number } : event;
  }
}
