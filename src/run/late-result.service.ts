import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { Log } from '../errors/index.js';
import { holdProcess } from '../kernel/index.js';
import { refusalOf } from '../persistence/index.js';
import type { WaitingRequest } from './decision/waiting-request.types.js';
import { WaitingRunStore } from './decision/waiting-run.store.js';
import { FILE_STEP, toFileMark } from './files/run-file.mapper.js';
import { HeldCommit } from './held-commit.js';
import { RunBus } from './follow/run-bus.js';
import type { RunEvent } from './event/run-event.types.js';
import { RunItem } from './event/run-item.factory.js';
import { RunJournal } from './run-journal.js';
import { insertUsage } from './run-outbox.js';
import { isOpen } from './run-record.mapper.js';
import { answerRun, insertEvents, insertStep } from './run-statement.factory.js';
import type { RecordedStep, RunRecord } from './run.types.js';
import type { StepCompanion } from './context/step-companion.types.js';

/** Waits before the attempts, in ms: the other process may still execute other calls of the run. */
const ATTEMPTS_MS = [0, 250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];

/** A batch that was refused because another process has claimed the run. */
export interface RefusedBatch {
  readonly steps: readonly RecordedStep[];
  readonly events: readonly RunEvent[];
  readonly companions: readonly StepCompanion[];
}

interface StepRow {
  readonly name: string;
  readonly kind: string;
  readonly subject: string;
  readonly epoch: number;
}

type Call = RecordedStep & { readonly place: string };
type Settlement = 'settled' | 'obsolete' | 'pending';

/**
 * Results of tool calls for runs that another process has claimed meanwhile. That process finds only the claim of the
 * call, and the run waits for a person to settle its outcome: this process, which has the result, settles it instead.
 */
@Injectable()
export class LateResultService implements BeforeApplicationShutdown {
  private readonly logger = new Log(LateResultService.name);
  private readonly closing = new AbortController();

  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
    private readonly waiting: WaitingRunStore,
  ) {}

  beforeApplicationShutdown(): void {
    this.closing.abort();
  }

  /**
   * Settles the calls of the batch. Resolves when that is done, obsolete or abandoned; failures are logged.
   * @param run as this process had claimed it
   */
  async settle(run: RunRecord, batch: RefusedBatch): Promise<void> {
    const calls = batch.steps.filter(({ kind }) => kind === 'tool');
    // It is unknown to which of several calls a change of a tool's state belongs.
    if (batch.companions.length > 0 && calls.length > 1) return;
    const settled = calls.map(async (call) => {
      try {
        await this.settleCall(run, { ...call, place: call.name.slice('tool:'.length) }, batch);
      } catch (err) {
        if (!this.closing.signal.aborted) this.logger.warn({ err, run_id: run.id }, 'Settling a tool call failed');
      }
    });
    await holdProcess(Promise.all(settled));
  }

  private async settleCall(run: RunRecord, call: Call, batch: RefusedBatch): Promise<void> {
    for (const waitMs of ATTEMPTS_MS) {
      await pause(waitMs, undefined, { signal: this.closing.signal });
      const settlement = await this.attempt(run, call, batch);
      if (settlement === 'settled') this.logger.log({ run_id: run.id, step: call.name }, 'Tool call settled');
      if (settlement !== 'pending') return;
    }
    this.logger.warn(
      { run_id: run.id, step: call.name },
      'Result of a tool call discarded: another process still executes the run; settle the call there if it waits',
    );
  }

  private async attempt(run: RunRecord, call: Call, batch: RefusedBatch): Promise<Settlement> {
    const current = await this.journal.find(run.id);
    if (!current || !isOpen(current.status)) return 'obsolete';
    const recorded = await this.rows(run.id);
    const isRecorded = new Set(recorded.map(({ name }) => name));
    if (isRecorded.has(call.name) || !isLastClaim(run, call, recorded)) return 'obsolete';
    if (current.status !== 'waiting') return 'pending';
    const request = (await this.waiting.requests(run.id)).find(({ step }) => step === call.name);
    const steps = [
      call,
      ...batch.steps.filter(({ name, kind }) => isPartOf(call, kind, name) && !isRecorded.has(name)),
    ];
    if (request?.kind !== 'outcome_unknown' || haveSameFile(steps, recorded)) return 'obsolete';
    return this.commit(current, request, steps, batch);
  }

  /** Records the steps as the other process would have, and resumes the run. */
  private async commit(
    run: RunRecord,
    request: WaitingRequest,
    steps: readonly RecordedStep[],
    { events, companions }: RefusedBatch,
  ): Promise<Settlement> {
    const at = Date.now();
    const { cipher } = this.journal;
    const last = await this.journal.lastEvent(run.id);
    const { id: request_id, call_id, tool } = request;
    const about = { run_id: run.id, request_id, call_id, tool } as const;
    const settled: RunEvent = { type: 'policy.decided', ...about, decision: 'settled', by: null };
    const ofCall = events.filter((event) => 'call_id' in event && event.call_id === call_id);
    const items = [settled, ...ofCall].map((event, i) => new RunItem(last + 1 + i, at, event));
    const statements = [
      answerRun(run),
      ...steps.map((step) => insertStep(run, step, at, cipher)),
      ...insertEvents(run, items, cipher),
      ...items.flatMap(({ event, n }) => (event.type === 'usage' ? [insertUsage(run, event, n!, at)] : [])),
    ];
    const mark = { step: steps[0]!.name, event: undefined };
    try {
      await new HeldCommit(run, this.journal).commit(statements, companions, mark);
    } catch (error) {
      // A person decided at the same time, or the run changed.
      if (refusalOf(error)) return 'pending';
      throw error;
    }
    await Promise.all(companions.map((companion) => companion.committed()));
    for (const item of items) this.bus.emit(run, item);
    this.bus.wake(run.id);
    return 'settled';
  }

  private rows(runId: string): Promise<StepRow[]> {
    return this.journal.database.query('SELECT name, kind, subject, epoch FROM run_step WHERE run_id = ?', [runId]);
  }
}

/** The call's files, and the values of the batch: facts of the result. */
function isPartOf({ place }: Call, kind: string, name: string): boolean {
  return kind === 'value' || (kind === FILE_STEP && name.startsWith(`${FILE_STEP}:${place}:`));
}

/** Whether the last claim of the call is that of this process: a person has not had it repeated. */
function isLastClaim({ epoch }: RunRecord, { place }: Call, recorded: readonly StepRow[]): boolean {
  const name = `claim:${place}`;
  const claims = recorded.filter((step) => step.name === name || step.name.startsWith(`${name}:r`));
  return claims.length > 0 && Math.max(...claims.map((claim) => claim.epoch)) === epoch;
}

/** Whether the other process has recorded a file under a number that this process has given to another one. */
function haveSameFile(steps: readonly RecordedStep[], recorded: readonly StepRow[]): boolean {
  const numbers = (of: readonly Pick<StepRow, 'kind' | 'subject'>[]) =>
    of.filter(({ kind }) => kind === FILE_STEP).map(({ subject }) => toFileMark(subject).n);
  return numbers(steps).some((n) => numbers(recorded).includes(n));
}
