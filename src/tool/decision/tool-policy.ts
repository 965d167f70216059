import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import type { FieldMistake } from '../../kernel/index.js';
import type { WaitFact } from '../../run/facts/index.js';
import type { ContentFilter } from '../../security/content/index.js';
import type { Approvers, CheckedCall, ToolContext, ToolResult } from '../tool.types.js';
import type { AgentRules } from './agent-rules.types.js';

/** A policy's decision about a call, as published in run events. */
export interface PolicyNote {
  /** The policy's name. */
  readonly policy: string;
  readonly decision: 'allowed' | 'approval' | 'denied' | 'limited';
  readonly reason?: string;
  /** Reset time of the limit, epoch ms. */
  readonly resets_at?: number;
  /** Scope and id of the earlier approval that covers the call. */
  readonly scope?: 'run' | 'session';
  readonly approval_id?: string;
}

/** The facts by which a call waits, and the settings that would change the decision. */
export interface WaitCause {
  readonly facts: readonly WaitFact[];
  readonly settings: readonly string[];
}

/** Why a call needs approval, and who may approve it; by default every principal with permission for the call. */
export interface ApprovalNeed {
  readonly reason: string;
  readonly by?: Approvers;
  readonly because?: WaitCause;
  /** Whether the call waits by the rule of three facts alone, so that an earlier approval may cover it. */
  readonly isCoverable?: boolean;
}

/** Decision on a call: run it, ask for approval first, or reject it with an error result. */
export type PlannedCall = {
  /** Notes of the policies that were asked; absent if none was asked. */
  readonly notes?: readonly PolicyNote[];
} & (
  | (CheckedCall & { readonly kind: 'run' })
  /** `reason` is for the person who approves. */
  | (CheckedCall & { readonly kind: 'approval' } & ApprovalNeed)
  | { readonly kind: 'rejected'; readonly result: ToolResult; readonly mistakes?: readonly FieldMistake[] }
);

/**
 * A policy's decision about a call. People and the model see the reason. `by`: who may approve; by default every principal with
 * permission for the call.
 */
export type PolicyDecision =
  | 'allow'
  | { readonly deny: string }
  | { readonly approve: string; readonly by?: Approvers; readonly because?: WaitCause; readonly isCoverable?: boolean };

/** The port to a rule about tool calls. All policies decide before a call is executed; the strictest decision applies. */
export abstract class ToolPolicy {
  abstract readonly name: string;
  /** Allows the call, requires approval, or denies it. A policy that throws denies. */
  abstract decide(call: CheckedCall, context: ToolContext): PolicyDecision | Promise<PolicyDecision>;
  /** Whether the policy applies to the call; otherwise it neither decides nor appears in events. */
  concerns(_call: CheckedCall, _context: ToolContext): boolean {
    return true;
  }
}

/** The registered tool policies; register at boot. */
@Injectable()
export class ToolPolicyRegistry {
  private readonly policies = new Map<string, ToolPolicy>();

  /** @throws AppError `TOOL_INVALID` if the name is taken */
  register(policy: ToolPolicy): void {
    if (this.policies.has(policy.name)) {
      throw new AppError('TOOL_INVALID', `Two tool policies are named "${policy.name}"; rename one.`);
    }
    this.policies.set(policy.name, policy);
  }

  /** All policies in order of registration. */
  list(): readonly ToolPolicy[] {
    return [...this.policies.values()];
  }
}

/** Port to the rules for log lines about calls, such as masked secrets. */
export abstract class ToolLogFilter {
  /** Filter for a call under these rules; `null`: lines stay unchanged. */
  abstract logFilter(rules: AgentRules | undefined): ContentFilter | null;
}
