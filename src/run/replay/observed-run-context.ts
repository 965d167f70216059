import type { AppError } from '../../errors/index.js';
import type { StepName } from '../context/run-context.js';
import { ReplayedRunContext, type ReplayedJournal } from '../context/replayed-run-context.js';
import type { RunRecord } from '../run.types.js';
import { toSubject } from '../run-record.mapper.js';
import type { ChildCall, ChildStatus } from '../tree/child-run.types.js';
import type { StepOptions, StepRequest } from '../context/step-companion.types.js';
import type { CallObserver } from './call-plan.types.js';

/** The request of a model call, or of a workflow's node for a child run (without a model), built by the present code. */
export interface BuiltRequest extends Partial<Pick<StepRequest, 'model' | 'request'>> {
  readonly step: string;
  /** `provider`: a body for the provider's API. `model`: the request that a model without such an API receives. */
  readonly form: 'provider' | 'model';
  readonly body: object;
}

/** Observes a replay. If a method throws, the replay ends. */
export interface ReplayObserver extends CallObserver {
  requested(request: BuiltRequest): void;
  /** The loop requests something that the journal lacks. The replay ends. */
  lacked(subject: string): void;
  /** The loop requests a recorded step with another subject. */
  differed(step: string, recorded: string, present: string): void;
  /** Data outside of the journal. */
  outside<T>(name: string, read: () => Promise<T>): Promise<T>;
}

/** A whole run without effects: recorded steps return their results, and an observer receives requests and decisions. */
export class ObservedRunContext extends ReplayedRunContext {
  /** Names of the recorded steps that the loop has requested. */
  readonly used = new Set<string>();

  override readonly observer: CallObserver = {
    called: (plan) => this.stopping(() => this.replay.called(plan)),
    settled: (step, outcome) => this.stopping(() => this.replay.settled(step, outcome)),
  };

  /** @param replay its methods may throw: the replay then ends */
  constructor(
    run: RunRecord,
    recorded: ReplayedJournal,
    private readonly replay: ReplayObserver,
  ) {
    super(run, '', recorded);
  }

  override async step<T>(name: StepName, _action: () => Promise<T>, { request }: StepOptions<T> = {}): Promise<T> {
    const step = this.nameOf(name);
    if (request) this.build(step, request());
    return this.replayed(step, toSubject(name.subject)) as T;
  }

  override isRecorded(name: Pick<StepName, 'place'> & { readonly kind: string }): boolean {
    if (super.isRecorded(name)) return true;
    // A call without a result would be executed, or its tool asked for the outcome.
    if (name.kind === 'tool') throw this.missing(`tool:${name.place}`);
    return false;
  }

  override outside<T>(name: string, read: () => Promise<T>): Promise<T> {
    return this.replay.outside(name, read);
  }

  /** The request of a node for a child run is compared as a request of a model: the child's journal is another one. */
  override async join(call: ChildCall): Promise<ChildStatus> {
    if (call.step.startsWith('node:')) {
      const { kind, name, input } = await call.request();
      this.stopping(() => this.replay.requested({ step: call.step, form: 'model', body: { kind, name, input } }));
    }
    return super.join(call);
  }

  protected override replayed(name: string, subject: string): unknown {
    this.used.add(name);
    const step = this.recorded.steps.get(name);
    if (step && step.subject !== subject) this.stopping(() => this.replay.differed(name, step.subject, subject));
    return super.replayed(name, subject);
  }

  protected override missing(subject: string): AppError {
    const error = super.missing(subject);
    this.replay.lacked(subject.replace(/^step /, ''));
    return error;
  }

  private build(step: string, { body, ...built }: StepRequest): void {
    const form = body ? 'provider' : 'model';
    this.stopping(() => this.replay.requested({ step, form, body: body ?? built.request, ...built }));
  }

  /** Ends the loop if the observer throws. */
  private stopping(observe: () => void): void {
    try {
      observe();
    } catch (error) {
      throw this.end(error as AppError);
    }
  }
}
