import type { Approvers, CheckedCall, ToolContext } from '../tool.types.js';
import type { WaitCause } from './planned-call.types.js';

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
