import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import type { Decision } from '../decision/decision.types.js';
import type { FileMark } from '../files/run-file.mapper.js';
import { FileLedger, RunContext, type StepName } from './run-context.js';
import type { RunJournal } from '../run-journal.js';
import { replayStep, toSubject } from '../run-record.mapper.js';
import type { StepOptions } from './step-companion.types.js';
import type { ChildJoinService } from '../tree/child-join.service.js';
import type { ChildCall, ChildStatus, RunLineage } from '../tree/child-run.types.js';
import type { RecordedStep, RunRecord } from '../run.types.js';

/** The recorded steps, files and child runs of a run. */
export interface ReplayedJournal {
  readonly journal: Pick<RunJournal, 'file'>;
  readonly steps: ReadonlyMap<string, RecordedStep>;
  readonly files: readonly FileMark[];
  readonly children: Pick<ChildJoinService, 'ended'>;
}

/**
 * A run's loop up to a step, without effects: recorded steps return their results, events go nowhere, and the loop stops at
 * the step, whose request it then has.
 */
export class ReplayedRunContext extends RunContext {
  readonly runId: string;
  readonly principal: Principal;
  readonly sessionId: string | null;
  readonly lineage: RunLineage | null;
  override readonly isJournaled = true;
  override readonly files: FileLedger;
  /** The body of the step's request; `undefined` while the loop has not reached the step. */
  request: object | null | undefined;
  private readonly controller = new AbortController();

  /** @param stop name of the step */
  constructor(
    protected readonly run: RunRecord,
    private readonly stop: string,
    protected readonly recorded: ReplayedJournal,
  ) {
    super();
    this.runId = run.id;
    this.principal = run.principal;
    this.sessionId = run.sessionId;
    this.lineage = run.lineage;
    this.files = new FileLedger((n) => recorded.journal.file(run.id, n), recorded.files);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  async step<T>(name: StepName, _action: () => Promise<T>, { request }: StepOptions<T> = {}): Promise<T> {
    const key = this.nameOf(name);
    if (key !== this.stop || !request) return this.replayed(key, toSubject(name.subject)) as T;
    this.request = request().body;
    throw this.end(new AppError('SHUTTING_DOWN', `The replay ends at step ${key}.`));
  }

  isRecorded({ kind, place }: { readonly kind: string; readonly place: string }): boolean {
    return this.recorded.steps.has(`${kind}:${place}`);
  }

  answer(requestId: string): Decision | undefined {
    const step = this.recorded.steps.get(`answer:${requestId}`);
    return step && (replayStep(this.run, step, step.subject) as Decision);
  }

  async value<T>(place: string): Promise<T> {
    return this.replayed(`value:${place}`, '') as T;
  }

  async claim(place: string): Promise<'claimed' | 'unknown'> {
    this.replayed(`claim:${place}`, '');
    return 'unknown';
  }

  async join({ id }: Pick<ChildCall, 'id'>): Promise<ChildStatus> {
    const status = await this.recorded.children.ended(id);
    if (!status) throw this.missing(`the end of the child run ${id}`);
    return status;
  }

  emit(): void {
    // A replay has no followers.
  }

  protected replayed(name: string, subject: string): unknown {
    const step = this.recorded.steps.get(name);
    if (!step) throw this.missing(`step ${name}`);
    return replayStep(this.run, step, subject);
  }

  /** Ends the loop at something that the journal lacks. */
  protected missing(subject: string): AppError {
    return this.end(notRecorded(subject));
  }

  /** Ends the loop as if the run were handed over: it must not finish the run. */
  protected end(reason: AppError): AppError {
    this.controller.abort(reason);
    return reason;
  }
}

function notRecorded(missing: string): AppError {
  return new AppError('STEP_NOT_FOUND', `The run's journal lacks ${missing}, so that the request cannot be rebuilt.`);
}
