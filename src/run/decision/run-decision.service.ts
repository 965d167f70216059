import { firstExpiry, hasExpired } from './waiting-time.policy.js';
import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import type { JsonValue } from '../../kernel/json/index.js';
import { refusalOf } from '../../persistence/index.js';
import type { Statement } from '../../persistence/statement/index.js';
import { runPruned } from '../retention/run-pruned.error.js';
import { RunBus } from '../follow/run-bus.js';
import type { PolicyApplied, PolicyDecided } from '../event/run-event.types.js';
import { RunItem } from '../event/run-item.factory.js';
import { RunJournal } from '../run-journal.js';
import { answerRun, type AnswerTime, insertEvents, insertStep } from '../run-statement.factory.js';
import type { RunRecord } from '../run.types.js';
import type { Decision, Verdict } from './decision.types.js';
import { answeredLate, notWaiting } from './not-waiting.error.js';
import type { WaitingKind, WaitingRequest } from './waiting-request.types.js';
import { WaitingRunStore } from './waiting-run.store.js';

/** A waiting run and its open requests. */
export interface WaitingRun {
  readonly run: RunRecord;
  readonly requests: readonly WaitingRequest[];
  /** Earlier requests of the run that expired without an answer. */
  readonly expired?: readonly WaitingRequest[];
}

/** Data that a tool gets back with the answer to its question. */
export interface StoredMemo {
  readonly tool: string;
  readonly memo: JsonValue | undefined;
}

/** A request and its verdict. */
export interface AnsweredRequest {
  readonly request: WaitingRequest;
  readonly verdict: Verdict;
  /** The kinds of content that were masked in the answer, if any. */
  readonly masked?: { readonly on: 'input' | 'result'; readonly found: readonly string[] };
}

/** The published decision of a verdict; a child run publishes its own end. */
const DECISION_OF: Readonly<Record<Exclude<Verdict['kind'], 'join'>, PolicyDecided['decision']>> = {
  approve: 'approved',
  deny: 'denied',
  input: 'answered',
  settle: 'settled',
  release: 'released',
  expire: 'expired',
};

/** Answers requests of waiting runs; of concurrent answers on any nodes, one succeeds. */
@Injectable()
export class RunDecisionService {
  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
    private readonly waiting: WaitingRunStore,
  ) {}

  /** @throws AppError `RUN_NOT_FOUND`, also for a run that the principal may not see; `RUN_PRUNED`; `RUN_NOT_WAITING` */
  async open(principal: Principal, runId: string): Promise<WaitingRun> {
    const run = await this.journal.findOf(principal, runId);
    if (!run) throw new AppError('RUN_NOT_FOUND', `There is no run "${runId}".`);
    if (run.prunedAt !== null) throw runPruned(run);
    const expired = await this.waiting.expiredRequests(runId);
    if (run.status !== 'waiting') throw notWaiting(runId, run.status, expired);
    return { run, requests: await this.waiting.requests(runId), expired };
  }

  /** The waiting runs with a request of this kind that the principal may see, the oldest first. */
  async *waitingFor(principal: Principal, kind: WaitingKind): AsyncGenerator<WaitingRun> {
    for (let after = ''; ;) {
      const ids = await this.waiting.ofTenant(principal.tenant, after);
      for (const id of ids) {
        const requests = await this.waiting.requests(id);
        const run = requests.some((request) => request.kind === kind) ? await this.journal.findOf(principal, id) : null;
        if (run?.status === 'waiting') yield { run, requests };
      }
      const last = ids.at(-1);
      if (last === undefined) return;
      after = last;
    }
  }

  /** The runs of all tenants that wait for an answer to a question of one of these tools, the oldest first. */
  async *waitingOn(tools: ReadonlySet<string>): AsyncGenerator<WaitingRun> {
    for (let after = ''; ;) {
      const ids = await this.waiting.ofAll(after);
      for (const id of ids) {
        const requests = await this.waiting.requests(id);
        const isAsked = requests.some(({ kind, tool }) => kind === 'input' && tools.has(tool));
        const run = isAsked ? await this.journal.find(id) : null;
        if (run?.status === 'waiting') yield { run, requests };
      }
      const last = ids.at(-1);
      if (last === undefined) return;
      after = last;
    }
  }

  /** The data that tools stored with their questions in a run, by the ids of the requests. */
  async memosOf(runId: string, tools: ReadonlySet<string>): Promise<ReadonlyMap<string, StoredMemo>> {
    const steps = (await this.journal.steps(runId)).filter(
      ({ kind, subject }) => kind === 'suspend' && tools.has(subject),
    );
    return new Map(
      steps.map(({ name, subject: tool, result }) => {
        const { memo } = JSON.parse(result) as { readonly memo?: JsonValue };
        return [name.replace('suspend:', 'input:'), { tool, memo }] as const;
      }),
    );
  }

  /**
   * Records the answers and resumes the run; requests without an answer are issued again. The statement that accepts a
   * person's answers compares their deadline with the time of the decision, so that no timer is needed to refuse a late
   * one.
   * @param by the id of the principal who decides; `null` for a decision by timeout or by the system
   * @param more statements of the same batch
   * @throws AppError `RUN_NOT_WAITING` when another decision came first, or when the deadline of one of the requests
   *   has passed
   */
  async decide(
    waiting: WaitingRun,
    answers: readonly AnsweredRequest[],
    by: string | null,
    more: readonly Statement[] = [],
  ): Promise<void> {
    const { run } = waiting;
    const at = Date.now();
    const { cipher } = this.journal;
    const last = await this.journal.lastEvent(run.id);
    const events = answers.flatMap((answer) => toEvents(run, answer, by));
    const items = events.map((event, i) => new RunItem(last + 1 + i, at, event));
    await this.commit(run, answers, at, [
      answerRun(run, by === null ? undefined : answerTime(waiting, answers, at)),
      ...answers.map(({ request, verdict }) => insertStep(run, toStep(request, { ...verdict, by, at }), at, cipher)),
      ...insertEvents(run, items, cipher),
      ...more,
    ]);
    for (const item of items) this.bus.emit(run, item);
    this.bus.wake(run.id);
  }

  private async commit(
    run: RunRecord,
    answers: readonly AnsweredRequest[],
    at: number,
    batch: readonly Statement[],
  ): Promise<void> {
    try {
      await this.journal.commit(batch);
    } catch (error) {
      if (!refusalOf(error)) throw error;
      const found = await this.journal.find(run.id);
      const late = answers.map(({ request }) => request).filter((request) => hasExpired(request, at));
      if (late.length > 0 && found?.status === 'waiting' && found.epoch === run.epoch) throw answeredLate(run.id, late);
      throw notWaiting(run.id, found?.status ?? 'cancelled', await this.waiting.expiredRequests(run.id));
    }
  }
}

/** The row of a run has the deadline of the first request only: the answered requests may have later deadlines. */
function answerTime({ requests }: WaitingRun, answers: readonly AnsweredRequest[], at: number): AnswerTime | undefined {
  const deadline = firstExpiry(answers.map(({ request }) => request));
  const first = firstExpiry(requests);
  return deadline === null ? undefined : { at, afterFirstMs: deadline - (first ?? deadline) };
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
    decision: DECISION_OF[verdict.kind],
    by,
    ...(verdict.kind === 'deny' && verdict.reason !== undefined && { reason: verdict.reason }),
    ...(verdict.kind === 'approve' && toApproved(verdict)),
  };
}

function toApproved({ arguments: edited, scope, approval_id }: Extract<Verdict, { kind: 'approve' }>) {
  return { arguments_edited: edited !== undefined, ...(scope && { scope }), ...(approval_id && { approval_id }) };
}
