import type { CheckedCall, ToolContext } from '../tool.types.js';

/** What a policy says of a call; the reasons are for people and for the model. */
export type PolicyDecision = 'allow' | { readonly deny: string } | { readonly approve: string };

/** The port to a rule about tool calls. All rules are asked before a call is made; the strictest answer counts. */
export abstract class ToolPolicy {
  abstract readonly name: string;
  /** Says whether the call may be made, needs a person's approval, or is denied. One that throws denies. */
  abstract decide(call: CheckedCall, context: ToolContext): PolicyDecision | Promise<PolicyDecision>;
  /** Whether it has anything to say of such a call: one that has not is neither asked nor told of. */
  concerns(_call: CheckedCall, _context: ToolContext): boolean {
    return true;
  }
}
