import { Log, messageOf } from '../../errors/index.js';
import type { CheckedCall, ToolContext } from '../tool.types.js';
import type { ApprovalNeed, PolicyDecision, PolicyNote, ToolPolicy } from './tool-policy.js';

const logger = new Log('ToolPolicy');

type Approval = Exclude<PolicyDecision, 'allow' | { deny: string }>;

/** The strictest decision, and the decision of each policy. */
export interface CallVerdict {
  readonly decision: PolicyDecision;
  readonly notes: readonly PolicyNote[];
}

/**
 * Combines the tool's own approval rule with all policies: deny over approve over allow. A policy that throws or returns
 * an invalid decision denies; an approval predicate that throws requires approval.
 */
export async function decideCall(
  call: CheckedCall,
  context: ToolContext,
  policies: readonly ToolPolicy[],
): Promise<CallVerdict> {
  const own = await approvalOf(call, context);
  const approvals = own === 'allow' ? [] : [own as Approval];
  const notes: PolicyNote[] = [];
  for (const policy of policies) {
    if (!isConcerned(policy, call, context)) continue;
    const decision = await decisionOf(policy, call, context);
    notes.push(toNote(policy, decision));
    if (decision === 'allow') continue;
    if ('deny' in decision) return { decision, notes };
    approvals.push(decision);
  }
  return { decision: combined(approvals), notes };
}

/** The first reason counts. A person who approves for another reason must know the facts of the rule, too. */
function combined(approvals: readonly Approval[]): PolicyDecision {
  const [first] = approvals;
  if (!first) return 'allow';
  const because = approvals.findLast((one) => one.because)?.because;
  const isCoverable = approvals.every((one) => one.isCoverable);
  const { isCoverable: _own, ...strictest } = first;
  return { ...strictest, ...(because && { because }), ...(isCoverable && { isCoverable }) };
}

/** The need for an approval, as a person sees it. */
export function needOf({ approve: reason, by, because, isCoverable }: Approval): ApprovalNeed {
  return { reason, ...(by && { by }), ...(because && { because }), ...(isCoverable && { isCoverable }) };
}

/** A policy whose `concerns` throws is asked for a decision. */
function isConcerned(policy: ToolPolicy, call: CheckedCall, context: ToolContext): boolean {
  try {
    return policy.concerns(call, context);
  } catch {
    return true;
  }
}

function toNote({ name: policy }: ToolPolicy, decision: PolicyDecision): PolicyNote {
  if (decision === 'allow') return { policy, decision: 'allowed' };
  if ('deny' in decision) return { policy, decision: 'denied', reason: decision.deny };
  return { policy, decision: 'approval', reason: decision.approve };
}

async function approvalOf({ tool, input }: CheckedCall, context: ToolContext): Promise<PolicyDecision> {
  const { approval = 'never' } = tool.metadata;
  if (approval === 'never') return 'allow';
  const { when = 'always', ...by } = typeof approval === 'object' ? approval : { when: approval };
  if (when === 'always') return { approve: 'Every call of this tool needs approval.', ...by };
  try {
    return (await when(input as never, context)) ? { approve: 'This call needs approval.', ...by } : 'allow';
  } catch (error) {
    logger.warn(`The approval predicate of tool "${tool.definition.name}" threw: ${messageOf(error)}`);
    return { approve: 'The approval rule of this tool failed, so the call needs approval.', ...by };
  }
}

async function decisionOf(policy: ToolPolicy, call: CheckedCall, context: ToolContext): Promise<PolicyDecision> {
  try {
    const decision: unknown = await policy.decide(call, context);
    if (isDecision(decision)) return decision;
    logger.warn(`The tool policy "${policy.name}" returned neither "allow" nor { deny } nor { approve }`);
  } catch (error) {
    logger.warn(`The tool policy "${policy.name}" threw: ${messageOf(error)}`);
  }
  return { deny: `the policy "${policy.name}" could not decide` };
}

function isDecision(decision: unknown): decision is PolicyDecision {
  if (decision === 'allow') return true;
  if (typeof decision !== 'object' || decision === null) return false;
  const { deny, approve } = decision as { deny?: unknown; approve?: unknown };
  return typeof ('deny' in decision ? deny : approve) === 'string';
}
