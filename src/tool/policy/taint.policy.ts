import { rulesOf } from '../call/tool-request.factory.js';
import type { CheckedCall, ToolContext } from '../tool.types.js';
import type { TaintMode } from './guardrails.types.js';
import type { SecurityPolicies } from './security-policies.registry.js';
import { ToolPolicy, type PolicyDecision } from './tool-policy.js';

const TAINTED = 'this run has read untrusted content, and the tool can send data out';

/** Restricts calls that can send data out, in a run that has read untrusted content. */
export class TaintPolicy extends ToolPolicy {
  readonly name = 'taint';

  constructor(private readonly policies: SecurityPolicies) {
    super();
  }

  override concerns({ tool }: CheckedCall, context: ToolContext): boolean {
    return context.isTainted && tool.metadata.egress && this.modeFor(context) !== 'off';
  }

  decide(_call: CheckedCall, context: ToolContext): PolicyDecision {
    const taint = this.modeFor(context);
    if (taint === 'off') return 'allow';
    return taint === 'deny' ? { deny: TAINTED } : { approve: `Needs approval: ${TAINTED}.` };
  }

  private modeFor(context: ToolContext): TaintMode {
    return this.policies.for(rulesOf(context)).taint;
  }
}
