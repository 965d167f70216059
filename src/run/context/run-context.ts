import { AppError } from '../../errors/index.js';
import { type Principal, Semaphore } from '../../kernel/index.js';
import type { Decision } from '../decision/decision.types.js';
import type { PublishedFile, RunFile } from '../files/run-file.types.js';
import type { CallObserver } from '../replay/call-plan.types.js';
import type { RunEvent } from '../event/run-event.types.js';
import type { StepOptions } from './step-companion.types.js';
import type { ChildCall, ChildStatus, RunLineage } from '../tree/child-run.types.js';

/** The files of earlier runs to which the turns that a run sees refer. */
export interface EarlierFiles {
  /** The highest number. */
  readonly last: number;
  /** @throws AppError `TOOL_INVALID_ARGUMENTS` for a number that several files have */
  find(n: number): Promise<RunFile | undefined>;
}

/** The files of a run: their numbers and total size, and their content on request. */
export class FileLedger {
  /** One call at a time records files, so that no batch has the files of several calls. */
  readonly recording = new Semaphore(1);
  private last = 0;
  private total = 0;
  private earlier: EarlierFiles | undefined;

  /**
   * @param read reads a recorded file
   * @param recorded the files of earlier executions
   */
  constructor(
    private readonly read: (n: number) => Promise<RunFile | undefined>,
    recorded: readonly Pick<PublishedFile, 'n' | 'bytes'>[] = [],
  ) {
    for (const { n, bytes } of recorded) {
      this.last = Math.max(this.last, n);
      this.total += bytes;
    }
  }

  /** Size of all files, in bytes. */
  get bytes(): number {
    return this.total;
  }

  /** Continues the numbers of earlier files, so that the model sees each number once. */
  follow(earlier: EarlierFiles): void {
    this.earlier = earlier;
    this.last = Math.max(this.last, earlier.last);
  }

  /** A file that the model may name: of this run, or of an earlier one. @throws AppError as `EarlierFiles.find` */
  async find(n: number): Promise<RunFile | undefined> {
    return (await this.read(n)) ?? this.earlier?.find(n);
  }

  /** @returns the number of a new file */
  add(bytes: number): number {
    this.total += bytes;
    this.last += 1;
    return this.last;
  }

  /** A recorded file. @throws AppError `INTERNAL` if the run has no such file */
  async get(n: number): Promise<RunFile> {
    const file = await this.read(n);
    if (!file) throw new AppError('INTERNAL', `A recorded result refers to file ${n}, which is not recorded.`);
    return file;
  }
}

/** The explicit, unique name of a step: its kind and its place. */
export interface StepName {
  readonly kind: 'model' | 'tool' | 'policy' | 'claim' | 'note' | 'suspend' | 'child' | 'node';
  /** Counted from 1: `<iteration>` or `<iteration>:<call>`; `:r<n>` marks the n-th repetition. */
  readonly place: string;
  /** The subject of the step, such as a tool's name. A recorded step with another subject is an error. */
  readonly subject: string;
}

/** Everything a loop may do outside its own memory: steps, claims, values, events; and the signal that stops it. */
export abstract class RunContext {
  abstract readonly runId: string;
  abstract readonly principal: Principal;
  abstract readonly sessionId: string | null;
  /** The position below the calling run; `null` for a run that no run called. */
  abstract readonly lineage: RunLineage | null;
  /** Aborted with an `AppError` as reason: `RUN_CANCELLED`, `RUN_TIMEOUT`, `SHUTTING_DOWN` or `RUN_FENCED`. */
  abstract readonly signal: AbortSignal;
  /** Whether the events are recorded. */
  readonly isJournaled: boolean = false;
  /** Binary content of the run's tool results. */
  readonly files: FileLedger = new FileLedger(async () => undefined);
  /** When the signal is aborted with a time-out, epoch ms. */
  readonly deadlineAt?: number;
  /** The deadline of its request, epoch ms; waits count. */
  readonly endsAt?: number | undefined;
  /** Receives the present decisions about recorded calls; `null` except in a replay. */
  readonly observer: CallObserver | null = null;

  /** Pending while the events of the run's start are unpublished; later events cannot overtake them. */
  get started(): Promise<void> | null {
    return null;
  }

  /** The step's name, unique in the run: `tool:1:2`. Together with the run's id it is an idempotency key. */
  nameOf({ kind, place }: Pick<StepName, 'kind' | 'place'>): string {
    return `${kind}:${place}`;
  }

  /**
   * Returns the result that the journal recorded under this name. Otherwise runs `action` and resolves when its result
   * is durable. A rejection of `action` is passed on, and nothing is recorded.
   * @throws AppError `STEP_CONFLICT` when the name was recorded with another subject
   */
  abstract step<T>(name: StepName, action: () => Promise<T>, options?: StepOptions<T>): Promise<T>;

  /**
   * Whether an outage of the provider, with this error, postpones the run: no client waits for its end, and the outage
   * has not lasted too long.
   */
  outlasts(_error: unknown): _error is AppError {
    return false;
  }

  /** Whether an earlier execution recorded the step; if so, replay returns its result. */
  abstract isRecorded(name: { readonly kind: StepName['kind'] | 'value'; readonly place: string }): boolean;

  /** The answer to a request of the run; undefined while there is no answer. */
  abstract answer(requestId: string): Decision | undefined;

  /** A value that must be the same in every replay (time, an id, a place); recorded with the next batch. */
  abstract value<T>(place: string, make: () => T | Promise<T>): Promise<T>;

  /** Reads data outside of the journal, such as earlier turns, which a replay of an exported run has in its export. */
  outside<T>(_name: 'history', read: () => Promise<T>): Promise<T> {
    return read();
  }

  /**
   * Records durably, before the effect, that an effect starts which must not happen twice.
   * @param announcement event of the same batch; not emitted if the claim is already recorded
   * @returns `unknown` if an earlier execution recorded the claim: the effect may or may not have happened
   */
  abstract claim(place: string, announcement: RunEvent): Promise<'claimed' | 'unknown'>;

  /**
   * Starts the child run of a call, or joins it if an earlier execution started it. Resolves when the child has ended
   * or waits for a decision. The child's id must be recorded before.
   * @throws the signal's reason when it is aborted; the maker's error when such a run cannot be created
   */
  abstract join(call: ChildCall): Promise<ChildStatus>;

  /**
   * Emits an event. A journaled event becomes visible with the next batch, in order. Emit journaled events inside a
   * step's action: outside, every replay emits them again.
   */
  abstract emit(event: RunEvent): void;

  /** Emits an event that belongs to the end of the run, outside of any step: committed with the end, or never. */
  emitWithEnd(event: RunEvent): void {
    this.emit(event);
  }
}
