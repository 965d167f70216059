import { HeapReservation } from '../../kernel/index.js';
import { refusalOf } from '../../persistence/index.js';
import { isPostponed, journalUnavailable } from '../context/execution-end.js';
import { RunAdmissionService } from '../admission/run-admission.service.js';
import { RunCapacityRegistry } from '../admission/run-capacity.registry.js';
import type { PostponedRunRegistry } from '../postponed-run.registry.js';
import { RunBus } from '../follow/run-bus.js';
import { RunExecutor } from '../run.executor.js';
import { RunJournal } from '../run-journal.js';
import type { RunOpening, RunRecord, RunStatus } from '../run.types.js';
import { AwaitedRunRegistry } from './awaited-run.registry.js';
import { NodeRegistry } from './node.registry.js';
import type { SuspectRunService } from './suspect-run.service.js';

/** The limits of runs in this process. */
export interface TakeLimits {
  readonly admission: RunAdmissionService;
  readonly capacity: RunCapacityRegistry;
  readonly suspects: SuspectRunService;
}

/** A claimed run; wrapped in an object, so that awaiting the claim does not await the end. */
interface ClaimedRun {
  readonly done: Promise<RunStatus>;
}

/** Receives every execution that starts in this process. */
type ExecutionListener = (run: RunRecord, execution: Promise<RunStatus>) => void;

/** Executes runs in this process: new runs, and runs it can claim because they are queued or their owner is dead. */
export class RunTakeService {
  private listener: ExecutionListener = () => undefined;
  private readonly admission: RunAdmissionService;
  private readonly capacity: RunCapacityRegistry;
  private readonly suspects: SuspectRunService;

  constructor(
    private readonly journal: RunJournal,
    private readonly executor: RunExecutor,
    private readonly bus: RunBus,
    private readonly nodes: NodeRegistry,
    private readonly awaited: AwaitedRunRegistry,
    { admission, capacity, suspects }: TakeLimits,
  ) {
    this.admission = admission;
    this.capacity = capacity;
    this.suspects = suspects;
  }

  onExecution(listener: ExecutionListener): void {
    this.listener = listener;
  }

  get postponed(): PostponedRunRegistry {
    return this.executor.postponed;
  }

  get isClosing(): boolean {
    return this.admission.isClosing;
  }

  /** As `RunAdmissionService.admit`. */
  admit<T>(begin: () => Promise<T>, content = 0): Promise<T> {
    return this.admission.admit(begin, content);
  }

  /** Takes no more runs; resolves when all admitted runs have started. */
  close(): Promise<void> {
    return this.admission.close();
  }

  has(runId: string): boolean {
    return this.executor.has(runId);
  }

  execute(run: RunRecord, isNew: boolean, opening?: RunOpening): Promise<RunStatus> {
    const execution = this.executor.execute(run, isNew, opening).finally(() => this.capacity.release(run));
    this.listener(run, execution);
    return execution;
  }

  /** Executes the run to its end if it can be claimed. The executor logs and publishes the outcome. */
  async take(runId: string): Promise<'done' | 'full'> {
    const taken = await this.admission.admit(() => this.begin(runId));
    if (taken === 'full') return 'full';
    await taken?.done.catch(() => undefined);
    return 'done';
  }

  /** Executes a new child run within its parent's capacity. */
  executeChild(run: RunRecord): void {
    this.capacity.exempt(run.id);
    // An exempt run always gets in.
    void this.capacity.acquire(run);
    this.execute(run, true).catch(() => undefined);
  }

  /** As `take`, for a child run within its parent's capacity. */
  async takeChild(runId: string): Promise<'done' | 'full'> {
    if (this.isClosing || this.executor.has(runId)) return 'done';
    this.capacity.exempt(runId);
    try {
      return await this.take(runId);
    } finally {
      this.capacity.revokeExemption(runId);
    }
  }

  cancel(runId: string): void {
    this.executor.cancel(runId);
  }

  /** Waits for running executions, then hands the rest over. */
  async drain(timeoutMs: number): Promise<void> {
    await this.executor.drain(timeoutMs);
    for (const runId of this.awaited.ids()) {
      this.executor.closeStreams(runId, 'SHUTTING_DOWN');
      this.awaited.settle(runId, 'queued');
    }
  }

  private async begin(runId: string): Promise<ClaimedRun | 'full' | null> {
    // After a freeze, this process and the others would take each other for dead.
    await this.nodes.renew();
    const run = await this.find(runId);
    if (!run) return null;
    const reservation = await this.admission.reserve(run, (stored) => this.journal.sizeOf(stored));
    if (!reservation) return 'full';
    try {
      return await reservation.run(() => this.start(run));
    } finally {
      reservation.release();
    }
  }

  /** The run if this process may claim it. */
  private async find(runId: string): Promise<RunRecord | null> {
    const run = await this.journal.find(runId);
    if (!run || this.executor.has(runId) || !(await this.isFree(run))) return null;
    if (run.status === 'queued' || run.owner === null) return run;
    await this.suspects.record(run.owner);
    const recorded = await this.journal.find(runId);
    return recorded?.epoch === run.epoch ? recorded : null;
  }

  private async start(run: RunRecord): Promise<ClaimedRun | 'full' | null> {
    if (!(await this.suspects.reserve(run))) return 'full';
    let claimed: ClaimedRun | 'full' | null = 'full';
    try {
      if (await this.capacity.acquire(run)) claimed = await this.claimWithin(run);
    } finally {
      if (claimed === 'full' || claimed === null) this.suspects.release(run);
      else void this.suspects.watch(run, claimed.done);
    }
    return claimed;
  }

  /** Frees the run's capacity unless it is claimed. */
  private async claimWithin(run: RunRecord): Promise<ClaimedRun | null> {
    const claimed = await this.claim(run).catch((error: unknown) => {
      this.capacity.release(run);
      throw error;
    });
    if (!claimed) this.capacity.release(run);
    return claimed;
  }

  private async claim(run: RunRecord): Promise<ClaimedRun | null> {
    const runId = run.id;
    try {
      const { run: claimed, items } = await this.journal.claim(run, Date.now());
      for (const item of items) this.bus.emit(run, item);
      // The end of another request's run may have triggered this start.
      const { current } = HeapReservation;
      const execute = () => this.execute(claimed, false);
      const done = this.awaited.contextOf(runId)(() => current?.run(execute) ?? execute());
      this.awaited.settle(runId, done);
      return { done };
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === null) throw journalUnavailable(runId, error);
      if (refusal === 'unique') await this.stayQueued(run);
      return null;
    }
  }

  private async isFree(run: RunRecord): Promise<boolean> {
    const { status, owner } = run;
    if (isPostponed(run)) return false;
    if (status !== 'running') return status === 'queued';
    return owner === null || !(await this.nodes.isAlive(owner));
  }

  /** A run behind one that waits for a decision stays queued, and its caller gets a response now. */
  private async stayQueued(run: RunRecord): Promise<void> {
    if (!this.awaited.has(run.id)) return;
    const holder = await this.journal.openOf(run);
    if (holder?.status !== 'waiting') return;
    this.executor.closeStreams(run.id, 'SESSION_BUSY');
    this.awaited.settle(run.id, 'queued');
  }
}
