import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AgentService } from '../../agent/index.js';
import { AgentDecisionService, type GivenDecision } from '../../agent/decision/index.js';
import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import { type RunRecord, RunService } from '../../run/index.js';
import type { WaitingRequest } from '../../run/decision/index.js';
import type { RunItem } from '../../run/event/index.js';
import { invalid } from '../client-conversation.js';
import { assertMayDecide, type OpenedRun } from '../client-run.service.js';
import { type InterruptName, parseInterruptId, type ResumeEntry, toInterruptId } from './interrupt.js';

/** An answer to an interrupt, with its place in the request. */
export interface InterruptAnswer extends InterruptName {
  readonly entry: ResumeEntry;
  readonly at: string;
}

const approval = z.object({
  approved: z.boolean(),
  editedArgs: z.record(z.string(), z.unknown()).optional(),
  reason: z.string().optional(),
});
const settlement = z.object({
  outcome: z.enum(['retry', 'succeeded', 'failed']),
  result: z.unknown().optional(),
  error: z.string().optional(),
});

/** @throws AppError `VALIDATION_FAILED` for an id of another server, and for two answers to one interrupt */
export function toAnswers(entries: readonly ResumeEntry[]): InterruptAnswer[] {
  const ids = new Set<string>();
  return entries.map((entry, index) => {
    const { interruptId: id } = entry;
    const at = `resume.${index}`;
    const name = parseInterruptId(id);
    if (!name) throw invalid(`${at}.interruptId`, 'is not the id of an interrupt of this server', id);
    if (ids.has(id)) throw invalid(`${at}.interruptId`, 'is answered twice', id);
    ids.add(id);
    return { ...name, entry, at };
  });
}

/**
 * The decision of an answer. An abandoned approval or question is denied; a run whose other requests are abandoned is
 * cancelled.
 * @throws AppError `VALIDATION_FAILED` for a payload that does not answer the request
 */
export function toDecision({ entry, at }: InterruptAnswer, { kind }: WaitingRequest): GivenDecision | 'cancel' {
  const isAbandoned = entry.status === 'cancelled';
  const place = `${at}.payload`;
  switch (kind) {
    case 'approval':
      return isAbandoned ? { kind: 'deny' } : toApproval(entry.payload, place);
    case 'input':
      return isAbandoned ? { kind: 'deny' } : { kind: 'input', value: entry.payload ?? null };
    case 'outcome_unknown':
      return isAbandoned ? 'cancel' : toSettlement(entry.payload, place);
    case 'restored':
      return isAbandoned ? 'cancel' : { kind: 'release' };
    case 'child':
      throw invalid(`${at}.interruptId`, 'waits for another run: answer the interrupts of that run', entry.interruptId);
  }
}

function toApproval(payload: unknown, at: string): GivenDecision {
  const parsed = approval.safeParse(typeof payload === 'boolean' ? { approved: payload } : payload);
  if (!parsed.success) throw invalid(at, 'must be `{approved, editedArgs?, reason?}`', payload);
  const { approved, editedArgs, reason } = parsed.data;
  if (approved) return { kind: 'approve', ...(editedArgs && { arguments: editedArgs }) };
  return { kind: 'deny', ...(reason !== undefined && { reason }) };
}

function toSettlement(payload: unknown, at: string): GivenDecision {
  const parsed = settlement.safeParse(payload);
  if (!parsed.success) throw invalid(at, 'must be `{outcome, result?, error?}`', payload);
  const { outcome, result, error } = parsed.data;
  return {
    kind: 'settle',
    outcome,
    ...(result !== undefined && { result }),
    ...(error !== undefined && { error }),
  };
}

/** A run whose interrupts were answered, with the items that continue it. */
export interface ResumedRun extends Pick<OpenedRun, 'id' | 'kind' | 'items' | 'after'> {
  /** Number of the last event with which it waited for the answers. */
  readonly waitedAt: number;
}

export interface ResumeRequest {
  readonly agent: string;
  readonly entries: readonly ResumeEntry[];
}

/** A waiting run, with the answers to its requests. */
interface AnsweredRun {
  readonly run: RunRecord;
  readonly answers: readonly InterruptAnswer[];
  /** All requests of the run so far, by id. */
  readonly known: ReadonlyMap<string, WaitingRequest>;
  /** Requests that are decided, or have expired. */
  readonly decided: ReadonlySet<string>;
  /** The requests of its last wait. */
  readonly open: readonly WaitingRequest[];
}

/** Decides the interrupts of a run, by the answers of its client. */
@Injectable()
export class RunResumeService {
  constructor(
    private readonly agents: AgentService,
    private readonly decisions: AgentDecisionService,
    private readonly runs: RunService,
  ) {}

  /**
   * Decides all open interrupts of the named runs at once, and follows their root run. Repeated answers follow it again.
   * @param signal ends the items, not the run
   * @throws AppError `VALIDATION_FAILED` for an unknown or missing interrupt, or an invalid payload; others as
   *   `AgentDecisionService`
   */
  async open(principal: Principal, { agent, entries }: ResumeRequest, signal: AbortSignal): Promise<ResumedRun> {
    assertMayDecide(principal);
    const named = await this.named(principal, toAnswers(entries));
    const root = await this.rootOf(principal, named);
    if (root.agent !== agent) throw invalid('resume', `must answer interrupts of the agent "${agent}"`, root.agent);
    for (const one of named) assertCovered(one);
    const decisions = named.map((one) => [one, toDecisions(one)] as const);
    for (const [one, given] of decisions) await this.decide(principal, one, given);
    const { first, last } = await this.waitsFor(root, named);
    const items = this.follow(root.id, first, signal);
    return { id: root.id, kind: 'resumed', after: first, waitedAt: last, items };
  }

  /** Subscribes with the first read, as the items may not be read. */
  private async *follow(runId: string, n: number, signal: AbortSignal): AsyncGenerator<RunItem, void> {
    yield* this.agents.follow(runId, n, signal);
  }

  private async named(principal: Principal, answers: readonly InterruptAnswer[]): Promise<AnsweredRun[]> {
    const byRun = Map.groupBy(answers, ({ runId }) => runId);
    return Promise.all([...byRun].map(([runId, own]) => this.read(principal, runId, own)));
  }

  private async read(principal: Principal, runId: string, answers: readonly InterruptAnswer[]): Promise<AnsweredRun> {
    const run = await this.runs.get(principal, runId);
    const known = new Map<string, WaitingRequest>();
    const decided = new Set<string>();
    let open: readonly WaitingRequest[] = [];
    for await (const { event } of this.agents.recorded(runId)) {
      if (event.type === 'run.waiting') {
        open = event.requests;
        for (const request of open) known.set(request.id, request);
      } else if (event.type === 'policy.decided' && 'request_id' in event) decided.add(event.request_id);
    }
    for (const { requestId, at, entry } of answers) {
      const request = known.get(requestId);
      if (!request || request.by_client)
        throw invalid(`${at}.interruptId`, 'is not the id of an interrupt of this server', entry.interruptId);
    }
    return { run, answers, known, decided, open };
  }

  private async rootOf(principal: Principal, named: readonly AnsweredRun[]): Promise<RunRecord> {
    const ids = new Set(named.map(({ run }) => run.lineage?.rootRunId ?? run.id));
    const [rootId = '', other] = ids;
    if (other !== undefined) throw invalid('resume', 'must answer interrupts of one run', [...ids]);
    return named.find(({ run }) => run.id === rootId)?.run ?? this.runs.get(principal, rootId);
  }

  private async decide(
    principal: Principal,
    { run, answers }: AnsweredRun,
    given: ReadonlyMap<string, GivenDecision> | 'cancel',
  ): Promise<void> {
    if (given === 'cancel') return void (await this.runs.cancel(principal, run.id));
    if (given.size === 0) return;
    try {
      await this.decisions.decideAll(principal, run.id, given);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'RUN_NOT_WAITING') throw error;
      // The same request was faster, or the run has ended meanwhile.
      const { run: now, decided } = await this.read(principal, run.id, answers);
      if (now.status === 'waiting' && !answers.every(({ requestId }) => decided.has(requestId))) throw error;
    }
  }

  /** The numbers of the first and the last event with which the root run waited for the named requests. */
  private async waitsFor(
    root: RunRecord,
    named: readonly AnsweredRun[],
  ): Promise<{ readonly first: number; readonly last: number }> {
    const own = new Set(named.flatMap(({ run, answers }) => (run.id === root.id ? answers : [])).map(toRequestId));
    const below = named.filter(({ run }) => run.id !== root.id).map(({ run }) => run);
    const isBelow = ({ child_run_id: childId }: WaitingRequest) =>
      childId !== undefined && below.some(({ id, lineage }) => id === childId || (lineage?.depth ?? 0) > 1);
    let first = 0;
    let last = 0;
    for await (const { event, n } of this.agents.recorded(root.id)) {
      if (event.type !== 'run.waiting' || n === null) continue;
      if (!event.requests.some((request) => own.has(request.id) || isBelow(request))) continue;
      first ||= n;
      last = n;
    }
    return { first, last };
  }
}

function toRequestId({ requestId }: InterruptAnswer): string {
  return requestId;
}

/** @throws AppError `VALIDATION_FAILED` if a request of a waiting run has no answer */
function assertCovered({ run, answers, decided, open }: AnsweredRun): void {
  if (run.status !== 'waiting') return;
  const ids = new Set(answers.map(toRequestId));
  const missing = open.find(
    ({ id, kind, by_client: isByClient }) => kind !== 'child' && !isByClient && !decided.has(id) && !ids.has(id),
  );
  if (!missing) return;
  const id = toInterruptId({ runId: run.id, requestId: missing.id });
  throw invalid('resume', `must answer all open interrupts at once: "${id}" is missing`, [...ids]);
}

/** The decisions about open requests, or `cancel` if the client abandons the run. */
function toDecisions({ run, answers, known, decided }: AnsweredRun): ReadonlyMap<string, GivenDecision> | 'cancel' {
  const given = new Map<string, GivenDecision>();
  if (run.status !== 'waiting') return given;
  for (const answer of answers) {
    const request = known.get(answer.requestId);
    if (!request || decided.has(request.id)) continue;
    const decision = toDecision(answer, request);
    if (decision === 'cancel') return decision;
    given.set(request.id, decision);
  }
  return given;
}
