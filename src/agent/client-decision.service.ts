import { Injectable } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import type { JsonValue, Principal } from '../kernel/index.js';
import { RunDecisionService, type Verdict, type WaitingRequest } from '../run/index.js';
import { AccessLogService } from '../security/index.js';
import { SecurityPolicies } from '../tool-policy/index.js';
import { DecisionPermits } from './decision-permits.service.js';
import { screenVerdict } from './screened-verdict.policy.js';

/** A decision of a client: the result of its own tool, or an approval. */
export type ClientDecision =
  | { readonly kind: 'result'; readonly value: JsonValue }
  | { readonly kind: 'approve' }
  | { readonly kind: 'deny'; readonly reason?: string };

type ClientVerdict = Extract<Verdict, { readonly kind: 'input' | 'approve' | 'deny' }>;

/** Decisions of clients that execute tools themselves, in place of the REST API's decisions about one request each. */
@Injectable()
export class ClientDecisionService {
  constructor(
    private readonly decisions: RunDecisionService,
    private readonly policies: SecurityPolicies,
    private readonly permits: DecisionPermits,
    private readonly access: AccessLogService,
  ) {}

  /**
   * Decides on several requests at once. All open calls of client tools must have their results, so that the model reads
   * them together.
   * @param given by the step of the call, such as `tool:1:2`
   * @throws AppError `RUN_NOT_FOUND`, `RUN_NOT_WAITING`, `FORBIDDEN`, `INPUT_BLOCKED`; nothing is then decided
   */
  async decideAll(principal: Principal, runId: string, given: ReadonlyMap<string, ClientDecision>): Promise<void> {
    const waiting = await this.decisions.open(principal, runId);
    const requests = waiting.requests.filter((request) => isMatching(request, given.get(request.step)));
    const open = waiting.requests.find((one) => one.by_client && !requests.includes(one));
    if (requests.length === 0 || open) throw unanswered(runId, open);
    for (const request of requests) {
      if (given.get(request.step)!.kind === 'approve')
        await this.permits.assertMayApprove(principal, waiting.run, request);
    }
    const answers = requests.map((request) => ({
      request,
      ...screenVerdict(this.policies, waiting.run, verdictOf(given.get(request.step)!)),
    }));
    await this.decisions.decide(waiting, answers, principal.id);
    for (const { verdict } of answers)
      this.access.record(principal, verdict.kind as ClientVerdict['kind'], 'run', runId);
  }
}

function isMatching({ kind, by_client: isByClient }: WaitingRequest, given: ClientDecision | undefined): boolean {
  if (isByClient) return given?.kind === 'result';
  return kind === 'approval' && (given?.kind === 'approve' || given?.kind === 'deny');
}

function unanswered(runId: string, open: WaitingRequest | undefined): AppError {
  const what = open ? `also waits for the result of "${open.tool}"` : 'does not wait for these calls';
  return new AppError('RUN_NOT_WAITING', `Run "${runId}" ${what}.`);
}

function verdictOf(given: ClientDecision): ClientVerdict {
  switch (given.kind) {
    case 'result':
      return { kind: 'input', value: given.value };
    case 'approve':
      return { kind: 'approve' };
    case 'deny':
      return { kind: 'deny', ...(given.reason !== undefined && { reason: given.reason }) };
  }
}
