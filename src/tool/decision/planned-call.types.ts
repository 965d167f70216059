import type { FieldMistake } from '../../kernel/index.js';
import type { WaitFact } from '../../run/index.js';
import type { Approvers, CheckedCall, ToolResult } from '../tool.types.js';

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
