import { AppError } from '../../errors/index.js';
import { newId, type Principal } from '../../kernel/index.js';
import type { ChildStatus } from '../tree/child-run.types.js';
import type { Decision } from '../decision/decision.types.js';
import { FileLedger, RunContext, type StepName } from './run-context.js';
import type { RunFile } from '../files/run-file.types.js';
import type { RunEvent } from '../event/run-event.types.js';
import type { StepOptions } from './step-companion.types.js';

/** A context without a journal, for pipelines outside a run and for tests, which can read the emitted events. */
export class MemoryRunContext extends RunContext {
  readonly runId: string = newId();
  readonly lineage = null;
  readonly events: RunEvent[] = [];
  /** Decisions, by request id. */
  readonly answers = new Map<string, Decision>();
  private readonly claims = new Set<string>();
  private readonly stored = new Map<number, RunFile>();
  override readonly files = new FileLedger(async (n) => this.stored.get(n));

  constructor(
    readonly principal: Principal,
    readonly signal: AbortSignal = new AbortController().signal,
    readonly sessionId: string | null = null,
  ) {
    super();
  }

  async step<T>(_name: StepName, action: () => Promise<T>, { companion, files }: StepOptions<T> = {}): Promise<T> {
    const result = await action();
    for (const file of files?.() ?? []) this.stored.set(file.n, file);
    await companion?.()?.alone();
    return result;
  }

  isRecorded(): boolean {
    return false;
  }

  answer(requestId: string): Decision | undefined {
    return this.answers.get(requestId);
  }

  async value<T>(_place: string, make: () => T | Promise<T>): Promise<T> {
    return make();
  }

  async claim(place: string, announcement: RunEvent): Promise<'claimed' | 'unknown'> {
    if (this.claims.has(place)) return 'unknown';
    this.claims.add(place);
    this.emit(announcement);
    return 'claimed';
  }

  async join(): Promise<ChildStatus> {
    throw new AppError('TOOL_FAILED', 'Only a journaled run can call an agent; this call has no journal.');
  }

  emit(event: RunEvent): void {
    this.events.push(event);
  }
}
