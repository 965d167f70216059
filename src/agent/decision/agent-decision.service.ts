import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import type { Statement } from '../../persistence/statement/index.js';
import type { RunRecord } from '../../run/index.js';
import {
  RunDecisionService,
  selectDeniable,
  selectRequest,
  selectRequests,
  type AnsweredRequest,
  type WaitingRequest,
  type WaitingRun,
} from '../../run/decision/index.js';
import { AccessLogService } from '../../security/access-log/index.js';
import { ToolExecutor } from '../../tool/index.js';
import { SecurityPolicies, type WideScope } from '../../tool-policy/index.js';
import { AgentService } from '../agent.service.js';
import type { RunAnswer } from '../answer/run-answer.types.js';
import { DecisionPermits } from './decision-permits.service.js';
import {
  type Addressed,
  assertAnswers,
  assertFits,
  assertStillFits,
  type GivenDecision,
  invalid,
  type PersonalVerdict,
  selectById,
  type Settlement,
  toJson,
  toVerdict,
} from './personal-verdict.factory.js';
import { screenVerdict } from './screened-verdict.policy.js';

/** Approval of a call; without `callId`, of all calls that wait for approval. */
export interface Approval extends Addressed {
  /** Replaces the arguments of the call; only for a single call. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /**
   * `run` and `session` also cover later calls of the same tool with no other hosts and addresses, in this run or in the
   * runs of its session, if they wait by the rule of three facts alone. Default `call`.
   */
  readonly scope?: 'call' | WideScope;
}

/**
 * Denial of a call or of a question. Without `callId` it applies to all calls that wait for approval; if none waits, to
 * all questions.
 */
export interface Denial extends Addressed {
  /** Read by the model, or by the tool that asked if the tool accepts denials. */
  readonly reason?: string;
}

/** The answer to a tool's question. */
export interface Input extends Addressed {
  readonly value: unknown;
}

/**
 * Human decisions on waiting runs: agent runs and direct tool calls. Each method returns the run's current answer and
 * throws `AppError`: `RUN_NOT_FOUND`; `FORBIDDEN` for a decider without permission for the call, except for `deny`;
 * `RUN_NOT_WAITING` when no such request is open; `VALIDATION_FAILED` and `INPUT_BLOCKED`, which change nothing.
 */
@Injectable()
export class AgentDecisionService {
  constructor(
    private readonly decisions: RunDecisionService,
    private readonly agents: AgentService,
    private readonly executor: ToolExecutor,
    private readonly policies: SecurityPolicies,
    private readonly permits: DecisionPermits,
    private readonly access: AccessLogService,
  ) {}

  async approve(
    principal: Principal,
    runId: string,
    { callId, scope = 'call', ...given }: Approval = {},
  ): Promise<RunAnswer> {
    const waiting = await this.decisions.open(principal, runId);
    if (given.arguments === undefined) {
      const requests = selectRequests(waiting, 'approval', callId);
      for (const request of requests) await this.permits.assertMayApprove(principal, waiting.run, request);
      if (scope === 'call') return this.decide(principal, waiting, requests, { kind: 'approve' });
      return this.approveWidely(principal, waiting, requests, scope);
    }
    if (scope !== 'call') throw invalid('scope', 'must be "call" for changed arguments', 'isScope', scope);
    const request = selectRequest(waiting, 'approval', callId);
    const verdict = await this.permitted(principal, waiting.run, request, { kind: 'approve', ...given });
    return this.decide(principal, waiting, [request], verdict);
  }

  /** @throws AppError `VALIDATION_FAILED` for a call that waits for other reasons, too */
  private async approveWidely(
    principal: Principal,
    waiting: WaitingRun,
    requests: readonly WaitingRequest[],
    scope: WideScope,
  ): Promise<RunAnswer> {
    const { run } = waiting;
    if (scope === 'session' && run.sessionId === null)
      throw invalid('scope', 'must be "call" or "run": the run has no session', 'isScope', scope);
    const other = requests.find(({ covers }) => !covers);
    if (other)
      throw invalid('scope', `must be "call" for the call "${other.call_id}": ${NOT_COVERED}`, 'isScope', scope);
    const stored = requests.map((request) => this.permits.prepareWide(principal, run, request, scope));
    const answers = requests.map((request, at) => {
      const verdict = { kind: 'approve', scope, approval_id: stored[at]!.id } as const;
      return { request, verdict };
    });
    const statements = stored.flatMap((one) => one.statements);
    return this.record(principal, waiting, answers, 'approve', statements);
  }

  async deny(principal: Principal, runId: string, { callId, reason }: Denial = {}): Promise<RunAnswer> {
    const waiting = await this.decisions.open(principal, runId);
    const requests = selectDeniable(waiting, callId);
    return this.decide(principal, waiting, requests, { kind: 'deny', ...(reason !== undefined && { reason }) });
  }

  async input(principal: Principal, runId: string, { callId, value }: Input): Promise<RunAnswer> {
    const waiting = await this.decisions.open(principal, runId);
    const request = selectRequest(waiting, 'input', callId);
    const verdict = await this.permitted(principal, waiting.run, request, { kind: 'input', value });
    return this.decide(principal, waiting, [request], verdict);
  }

  async settle(principal: Principal, runId: string, { callId, ...settlement }: Settlement): Promise<RunAnswer> {
    const waiting = await this.decisions.open(principal, runId);
    const request = selectRequest(waiting, 'outcome_unknown', callId);
    const verdict = await this.permitted(principal, waiting.run, request, { kind: 'settle', ...settlement });
    return this.decide(principal, waiting, [request], verdict);
  }

  /**
   * Decides several requests of a run at once, so that it resumes once.
   * @param given by the id of the request
   */
  async decideAll(principal: Principal, runId: string, given: ReadonlyMap<string, GivenDecision>): Promise<void> {
    const waiting = await this.decisions.open(principal, runId);
    const answers: AnsweredRequest[] = [];
    for (const [id, decision] of given) {
      const request = selectById(waiting, id);
      const verdict = await this.permitted(principal, waiting.run, request, decision);
      const answer = { request, ...screenVerdict(this.policies, waiting.run, verdict) };
      await assertStillFits(answer);
      answers.push(answer);
    }
    await this.decisions.decide(waiting, answers, principal.id);
    const kinds = new Set([...given.values()].map(({ kind }) => kind));
    for (const kind of kinds) this.access.record(principal, kind, 'run', runId);
  }

  /** Releases a run that waits because its database was copied or restored. */
  async release(principal: Principal, runId: string): Promise<RunAnswer> {
    const waiting = await this.decisions.open(principal, runId);
    return this.decide(principal, waiting, selectRequests(waiting, 'restored'), { kind: 'release' });
  }

  /** As `release`, for all such runs that the principal may see, the oldest first. @returns their ids */
  async releaseAll(principal: Principal): Promise<string[]> {
    const released: string[] = [];
    for await (const waiting of this.decisions.waitingFor(principal, 'restored')) {
      const answers = selectRequests(waiting, 'restored').map((request) => ({ request, verdict: RELEASE }));
      try {
        await this.decisions.decide(waiting, answers, principal.id);
      } catch (error) {
        // Another person was faster.
        if (error instanceof AppError && error.code === 'RUN_NOT_WAITING') continue;
        throw error;
      }
      this.access.record(principal, 'release', 'run', waiting.run.id);
      released.push(waiting.run.id);
    }
    return released;
  }

  /** The verdict of a decision that the principal may make. */
  private async permitted(
    principal: Principal,
    run: RunRecord,
    request: WaitingRequest,
    given: GivenDecision,
  ): Promise<PersonalVerdict> {
    assertAnswers(request, given);
    switch (given.kind) {
      case 'approve':
        return this.permittedApproval(principal, run, request, given.arguments);
      case 'deny':
        return given;
      case 'release':
        return RELEASE;
      case 'input': {
        await this.permits.assertMayCall(principal, run, request);
        const value = toJson('value', given.value);
        await assertFits(request, value);
        return { kind: 'input', value };
      }
      case 'settle':
        await this.permits.assertMayCall(principal, run, request);
        return toVerdict(given, principal);
    }
  }

  private async permittedApproval(
    principal: Principal,
    run: RunRecord,
    request: WaitingRequest,
    args: Approval['arguments'],
  ): Promise<PersonalVerdict> {
    await this.permits.assertMayApprove(principal, run, request);
    if (args === undefined) return { kind: 'approve' };
    const edited = JSON.stringify(args);
    await this.permits.assertMayCall(principal, run, { ...request, arguments: edited });
    await this.checkArguments(run, request, edited);
    return { kind: 'approve', arguments: edited };
  }

  private async decide(
    principal: Principal,
    waiting: WaitingRun,
    requests: readonly WaitingRequest[],
    verdict: PersonalVerdict,
  ): Promise<RunAnswer> {
    const screened = screenVerdict(this.policies, waiting.run, verdict);
    const answers = requests.map((request) => ({ request, ...screened }));
    for (const answer of answers) await assertStillFits(answer);
    return this.record(principal, waiting, answers, verdict.kind);
  }

  private async record(
    principal: Principal,
    waiting: WaitingRun,
    answers: readonly AnsweredRequest[],
    kind: PersonalVerdict['kind'],
    statements: readonly Statement[] = [],
  ): Promise<RunAnswer> {
    await this.decisions.decide(waiting, answers, principal.id, statements);
    this.access.record(principal, kind, 'run', waiting.run.id);
    return this.agents.shown(principal, waiting.run.id);
  }

  /** The tool checks edited arguments in the same way as the model's arguments. */
  private async checkArguments(run: RunRecord, { tool }: WaitingRequest, edited: string): Promise<void> {
    const checked = await this.executor.check({ name: tool, arguments: edited }, this.permits.toolsOf(run));
    if (checked.kind !== 'rejected' || checked.result.success) return;
    throw invalid('arguments', checked.result.error, 'isArguments', {}, checked.mistakes);
  }
}

const RELEASE = { kind: 'release' } as const;

const NOT_COVERED =
  'it waits by the rule of a tool, an agent or a policy, or its arguments contain more than 20 addresses or an unclear one';
