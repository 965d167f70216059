import { Injectable } from '@nestjs/common';
import { AppError, type Principal } from '../../common/index.js';
import { refusalOf, type Statement } from '../../persistence/index.js';
import { RunBus } from '../run-bus.js';
import type { PolicyApplied, PolicyDecided } from '../run-event.types.js';
import type { WaitingRequest } from './waiting-request.types.js';
import { RunItem } from '../run-item.factory.js';
import { RunJournal } from '../run-journal.js';
import { answerRun, insertEvents, insertStep } from '../run-statement.factory.js';
import { runPruned } from '../retention/run-pruned.error.js';
import type { RunRecord } from '../run.types.js';
import type { Decision, Verdict } from './decision.types.js';
import { notWaiting } from './not-waiting.error.js';
import { WaitingRunStore } from './waiting-run.store.js';

/** A run that waits, and for what. */
export interface WaitingRun {
  readonly run: RunRecord;
  readonly requests: readonly WaitingRequest[];
}

/** One request with what was decided. */
export interface AnsweredRequest {
  readonly request: WaitingRequest;
  readonly verdict: Verdict;
  /** What kinds of content were masked in what somebody said, if any. */
  readonly masked?: { readonly on: 'input' | 'result'; readonly found: readonly string[] };
}

/** What is told of a verdict; of the end of a run that was called, that run tells itself. */
const TOLD: Readonly<Record<Exclude<Verdict['kind'], 'join'>, PolicyDecided['decision']>> = {
  approve: 'approved',
  deny: 'denied',
  input: 'answered',
  settle: 'settled',
  expire: 'expired',
};

/** Answers what waiting runs ask; of several answers at once, from whatever node, one counts. */
@Injectable()
export class RunDecisionService {
  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
    private readonly waiting: WaitingRunStore,
  ) {}

  /** @throws AppError `RUN_NOT_FOUND`, also for another tenant's run; `RUN_PRUNED`; `RUN_NOT_WAITING` */
  async open(principal: Principal, runId: string): Promise<WaitingRun> {
    const run = await this.journal.findOf(principal.tenant, runId);
    if (!run) throw new AppError('RUN_NOT_FOUND', `There is no run "${runId}".`);
    if (run.prunedAt !== null) throw runPruned(run);
    if (run.status !== 'waiting') throw notWaiting(runId, run.status);
    return { run, requests: await this.waiting.requests(runId) };
  }

  /**
   * Records the answers and lets the run go on; what was not answered is asked again.
   * @param by the id of the principal who decides; `null` when time does
   * @throws AppError `RUN_NOT_WAITING` when somebody else was first
   */
  async decide({ run }: WaitingRun, answers: readonly AnsweredRequest[], by: string | null): Promise<void> {
    const at = Date.now();
    const { cipher } = this.journal;
    const last = await this.journal.lastEvent(run.id);
    const told = answers.flatMap((answer) => toEvents(run, answer, by));
    const items = told.map((event, i) => new RunItem(last + 1 + i, at, event));
    await this.commit(run, [
      answerRun(run),
      ...answers.map(({ request, verdict }) => insertStep(run, toStep(request, { ...verdict, by, at }), at, cipher)),
      ...insertEvents(run, items, cipher),
    ]);
    for (const item of items) this.bus.tell(run, item);
    this.bus.wake(run.id);
  }

  private async commit(run: RunRecord, batch: readonly Statement[]): Promise<void> {
    try {
      await this.journal.commit(batch);
    } catch (error) {
      if (!refusalOf(error)) throw error;
      throw notWaiting(run.id, (await this.journal.find(run.id))?.status ?? 'cancelled');
    }
  }
}

function toStep({ id }: WaitingRequest, decision: Decision) {
  return { name: `answer:${id}`, kind: 'answer', subject: decision.kind, result: JSON.stringify(decision) };
}

function toEvents(run: RunRecord, answer: AnsweredRequest, by: string | null): (PolicyDecided | PolicyApplied)[] {
  const decided = toEvent(run, answer, by);
  const { request, masked } = answer;
  if (!decided || !masked) return decided ? [decided] : [];
  const { call_id, tool } = request;
  const reason = `it holds ${masked.found.join(', ')}`;
  const about = { policy: 'content', decision: 'masked', iteration: 0, call_id, tool, reason } as const;
  return [decided, { type: 'policy.decided', ...about, ...masked }];
}

function toEvent(run: RunRecord, { request, verdict }: AnsweredRequest, by: string | null): PolicyDecided | null {
  if (verdict.kind === 'join') return null;
  const { id, call_id, tool } = request;
  return {
    type: 'policy.decided',
    run_id: run.id,
    request_id: id,
    call_id,
    tool,
    decision: TOLD[verdict.kind],
    by,
    ...(verdict.kind === 'deny' && verdict.reason !== undefined && { reason: verdict.reason }),
    ...(verdict.kind === 'approve' && { arguments_edited: verdict.arguments !== undefined }),
  };
}
